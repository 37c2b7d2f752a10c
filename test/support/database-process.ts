import { spawn, type ChildProcess } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from './wait-for.js';

/** How a database server is started. */
export interface DatabaseProcessOptions {
  readonly program: string;
  readonly args: (dir: string) => readonly string[];
  /** The user it must run as, for servers that refuse root. */
  readonly uid?: number | undefined;
  /** Fills the fresh data folder. */
  readonly prepare?: (dir: string) => void;
  /** How it ends at once; default SIGKILL. */
  readonly endBy?: NodeJS.Signals | undefined;
  /** Throws until the server can be used. */
  readonly ready: () => Promise<unknown>;
}

/** A server with a temporary folder of its own; both are gone after `stop()`. */
export class DatabaseProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly dir: string,
    private readonly endBy: NodeJS.Signals,
  ) {}

  static async start(options: DatabaseProcessOptions): Promise<DatabaseProcess> {
    const { uid } = options;
    const dir = await mkdtemp(join(tmpdir(), 'lease-db-'));
    if (uid !== undefined) await chown(dir, uid, -1);
    options.prepare?.(dir);
    const child = spawn(options.program, options.args(dir), {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid }),
    });
    let output = '';
    const keep = (chunk: Buffer | Error): void => void (output = (output + String(chunk)).slice(-4000));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', keep);
    const server = new DatabaseProcess(child, dir, options.endBy ?? 'SIGKILL');
    const gone = (): boolean => child.exitCode !== null || child.signalCode !== null;
    try {
      await waitFor(async () => gone() || (await options.ready().then(() => true)), {
        timeoutMs: 30_000,
        intervalMs: 20,
        message: options.program,
      });
      if (gone()) throw new Error(`${options.program} ended.`);
      return server;
    } catch (error) {
      await server.stop();
      throw new Error(`${options.program} did not start: ${output}`, { cause: error });
    }
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      // At once: nothing in the folder is worth a clean end.
      child.kill(this.endBy);
      await ended;
    }
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
