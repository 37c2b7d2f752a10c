import { execFile } from 'node:child_process';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** Runs a program and gives back what it printed; what it printed is in the error when it fails. */
export async function run(cwd: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  // Neither Jest's own flags nor its NODE_ENV are for the application.
  const { NODE_OPTIONS: _flags, NODE_ENV: _env, JEST_WORKER_ID: _worker, ...rest } = process.env;
  try {
    const { stdout } = await execute(command, args, { cwd, env: { ...rest, ...env }, maxBuffer: 1 << 26 });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed in ${basename(cwd)}:\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Runs a program of the project's own node_modules. */
export const runTool = (file: string, args: readonly string[]): Promise<string> =>
  run(root, process.execPath, [join(root, 'node_modules', file), ...args]);

/** Builds and packs the library, as `npm publish` would. */
export async function pack(): Promise<{ tarball: string; files: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'lease-pack-'));
  await run(root, process.execPath, ['scripts/build.mjs', '--if-needed']);
  const output = await run(root, 'npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]);
  const report = JSON.parse(output) as
    { filename: string; files: { path: string }[] }[] | Record<string, { filename: string; files: { path: string }[] }>;
  const [packed] = Object.values(report);
  return { tarball: join(folder, packed!.filename), files: packed!.files.map(({ path }) => path) };
}

/** An application of this folder, copied away from the project, so that it finds nothing but what it installed. */
export class Consumer {
  private constructor(readonly folder: string) {}

  static async install(name: string, tarball: string): Promise<Consumer> {
    const folder = join(await mkdtemp(join(tmpdir(), 'lease-consumer-')), name);
    const wanted = (source: string): boolean => !/\/(node_modules|dist)(\/|$)/.test(source.slice(import.meta.dirname.length));
    await cp(join(import.meta.dirname, name), folder, { recursive: true, filter: wanted });
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error'];
    await run(folder, 'npm', ['ci', ...quiet]);
    await run(folder, 'npm', ['install', '--no-save', '--no-package-lock', ...quiet, tarball]);
    return new Consumer(folder);
  }

  /** Compiles with further settings on the command line. */
  tsc(...args: string[]): Promise<string> {
    return this.node('node_modules/typescript/bin/tsc', ['-p', '.', ...args]);
  }

  node(file: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<string> {
    return run(this.folder, process.execPath, [file, ...args], env);
  }
}
