import { spawn, type ChildProcess } from 'node:child_process';

/** What a program printed, and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A program of this repository in a process of its own, with nothing of the test runner in its environment. */
export function startNode(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const { NODE_OPTIONS: _options, REDIS_URL: _url, NODE_ENV: _env, ...rest } = process.env;
  return spawn(process.execPath, ['--enable-source-maps', file, ...args], { env: { ...rest, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs it to its end. */
export async function runNode(file: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> {
  const child = startNode(file, args, env);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}
