import { fork, type ChildProcess, type Serializable } from 'node:child_process';
import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const built = new Map<string, string>();
const nodeModules = join(import.meta.dirname, '..', '..', 'node_modules');
/** Nest asks for these only when they are there. */
const OPTIONAL = ['class-validator', 'class-transformer', '@nestjs/core', '@nestjs/microservices', '@nestjs/websockets'];

/**
 * One file of a TypeScript program for a child process, bundled with the library as its source is now, so that it starts fast.
 * A Nest application (`.app.ts`) loads its packages by itself. The file stays, for whoever else started it, until the next run
 * puts another in its place.
 */
export function bundle(entry: string): string {
  const before = built.get(entry);
  if (before) return before;
  const isApp = entry.endsWith('.app.ts');
  const name = `lease-child-${createHash('sha1').update(entry).digest('hex').slice(0, 12)}`;
  const outfile = isApp ? join(nodeModules, `.${name}.mjs`) : join(tmpdir(), `${name}.cjs`);
  const draft = `${outfile}.${String(process.pid)}`;
  const format = { bundle: true, platform: 'node', target: 'node20', sourcemap: 'inline', logLevel: 'error' } as const;
  const packages = isApp ? ({ format: 'esm', packages: 'external' } as const) : ({ format: 'cjs', external: OPTIONAL } as const);
  buildSync({ entryPoints: [entry], outfile: draft, ...format, ...packages });
  renameSync(draft, outfile);
  built.set(entry, outfile);
  return outfile;
}

/** A message of a child: an event with whatever belongs to it. */
export type ChildMessage = { readonly type: string } & Record<string, any>;

/** A program of ours in a process of its own, which can be stopped and killed. */
export class TestProcess {
  /** Every message so far, oldest first. */
  readonly messages: ChildMessage[] = [];
  /** What it wrote to stdout and stderr, the end of it. */
  output = '';
  private readonly child: ChildProcess;
  private readonly exit: Promise<number | NodeJS.Signals | null>;
  private readonly lookers = new Set<() => void>();

  /** Starts the TypeScript program `entry`; `options` reach it as JSON in `process.argv[2]`. */
  constructor(entry: string, options: Record<string, unknown> = {}, nodeFlags: readonly string[] = []) {
    // A script of a test runner is nothing for a child.
    const env = { ...process.env, NODE_OPTIONS: '' };
    const child = fork(bundle(entry), [JSON.stringify(options)], {
      execArgv: ['--enable-source-maps', ...nodeFlags],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env,
    });
    this.child = child;
    const keep = (chunk: Buffer): void => void (this.output = (this.output + chunk.toString()).slice(-8000));
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.on('message', (message) => {
      this.messages.push(message as ChildMessage);
      this.look();
    });
    this.exit = new Promise((resolve) =>
      child.once('exit', (code, signal) => {
        resolve(signal ?? code);
        this.look();
      }),
    );
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  of(type: string): ChildMessage[] {
    return this.messages.filter((message) => message.type === type);
  }

  /** The first message of this type, also one that came already. */
  async message(type: string, { nth = 1, timeoutMs = 10_000 } = {}): Promise<ChildMessage> {
    const found = (): ChildMessage | undefined => this.of(type)[nth - 1];
    const at = found();
    if (at) return at;
    return new Promise((resolve, reject) => {
      const end = (act: () => void): void => {
        clearTimeout(timer);
        this.lookers.delete(looker);
        act();
      };
      const fail = (why: string): void =>
        end(() => reject(new Error(`${why} before "${type}" came. ${JSON.stringify(this.messages).slice(-800)} ${this.output}`)));
      const timer = setTimeout(() => fail(`${String(timeoutMs)} ms passed`), timeoutMs);
      const looker = (): void => {
        const message = found();
        if (message) end(() => resolve(message));
        else if (!this.running) fail('The process ended');
      };
      this.lookers.add(looker);
    });
  }

  send(message: ChildMessage): void {
    if (this.running) this.child.send(message as Serializable);
  }

  /** SIGSTOP: nothing runs in it, and its connections stay open. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  /** SIGCONT. */
  thaw(): void {
    this.child.kill('SIGCONT');
  }

  /** SIGKILL, or another signal; resolves with its exit code or signal when it is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | NodeJS.Signals | null> {
    if (this.running) this.child.kill(signal);
    return this.exit;
  }

  /** Exit code or signal, once it has ended by itself. */
  ended(): Promise<number | NodeJS.Signals | null> {
    return this.exit;
  }

  private look(): void {
    for (const looker of [...this.lookers]) looker();
  }
}
