import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer } from './find-redis-server.mjs';
import { askRedis } from './ask-redis.js';
import { waitFor } from './wait-for.js';

export { findRedisServer };

/** How a server is started. */
export interface RedisServerOptions {
  /** Further arguments, for example `['--maxmemory', '2mb']`. */
  readonly args?: readonly string[];
  /** Text of a configuration file, for what arguments cannot say. The server may rewrite the file. */
  readonly config?: string;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: any free port. */
  readonly port?: number;
}

/** A real `redis-server` of its own on a loopback port: no persistence, its own temporary folder. */
export class RedisServer {
  readonly host = '127.0.0.1';
  private child: ChildProcess | undefined;
  private output = '';
  private isFrozen = false;

  private constructor(
    readonly port: number,
    private readonly dir: string,
    /** Its arguments, besides those that all have. */
    readonly args: readonly string[],
    private readonly env: Readonly<Record<string, string>>,
    private readonly configFile: string | undefined,
  ) {}

  /** Starts one and waits until it answers. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const dir = await mkdtemp(join(tmpdir(), 'lease-redis-'));
    const file = options.config === undefined ? undefined : join(dir, 'server.conf');
    if (file !== undefined) await writeFile(file, options.config as string);
    for (let attempt = 1; ; attempt++) {
      const args = [...(options.args ?? [])];
      // By itself it adds 10,000 to its port for those of its Cluster, which may be too much.
      if (args.includes('--cluster-enabled')) args.push('--cluster-port', String(await freePort()));
      const server = new RedisServer(options.port ?? (await freePort()), dir, args, options.env ?? {}, file);
      try {
        await server.launch();
        return server;
      } catch (error) {
        // Another process may have taken the free port in between.
        if (options.port === undefined && attempt < 5 && server.output.includes('Address already in use')) continue;
        await rm(dir, { recursive: true, force: true });
        throw error;
      }
    }
  }

  get url(): string {
    return `redis://${this.host}:${String(this.port)}`;
  }

  /** Process id, or `undefined` while it is down. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Runs, and is not frozen. */
  get responsive(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null && !this.isFrozen;
  }

  /** Ends it for good and removes its folder. Safe to repeat. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.dir, { recursive: true, force: true });
  }

  /** SIGKILL: nothing is saved, every connection breaks. `restart()` brings it back on the same port. */
  async kill(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    this.isFrozen = false;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGKILL');
    await gone;
  }

  /** SIGSTOP: connections stay open and nothing answers. */
  freeze(): void {
    this.isFrozen = true;
    this.child?.kill('SIGSTOP');
  }

  /** SIGCONT. */
  thaw(): void {
    this.isFrozen = false;
    this.child?.kill('SIGCONT');
  }

  /** Starts it again on the same port, `empty` (the default) or with the data it had; kills it first if it runs. */
  async restart({ empty = true }: { readonly empty?: boolean } = {}): Promise<void> {
    if (!empty && this.child) await this.ask('SAVE');
    await this.kill();
    if (empty) await rm(join(this.dir, 'dump.rdb'), { force: true });
    await this.launch();
  }

  /** Sends one command on a connection of its own and gives the raw reply. */
  ask(...command: string[]): Promise<string> {
    const at = this.args.indexOf('--requirepass');
    return askRedis({ port: this.port, host: this.host, password: at < 0 ? undefined : this.args[at + 1] }, command);
  }

  private async launch(): Promise<void> {
    this.output = '';
    const fixed = ['--port', String(this.port), '--bind', this.host, '--dir', this.dir, '--save', '', '--appendonly', 'no'];
    const first = this.configFile === undefined ? [] : [this.configFile];
    const child = spawn(findRedisServer(), [...first, ...fixed, '--enable-debug-command', 'yes', ...this.args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...this.env },
    });
    this.child = child;
    const keep = (chunk: Buffer): void => void (this.output = (this.output + chunk.toString()).slice(-4000));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', keep);
    const answers = async (): Promise<boolean> => {
      if (child.exitCode !== null || child.signalCode !== null) return true;
      return /^(\+PONG|-NOAUTH|-NOPERM|-MASTERDOWN)/.test(await this.ask('PING'));
    };
    await waitFor(answers, { timeoutMs: 15_000, message: 'redis-server to answer' });
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`redis-server did not start: ${this.output}`);
  }
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
