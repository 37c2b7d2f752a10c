import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Fleet, Replica, Told } from './replica.js';

const PROGRAM = fileURLToPath(new URL('./replica-process.js', import.meta.url));

/** What a replica's process says: that it is up, why it is not, or what its job does. */
export type ReplicaMessage = { readonly up: true } | { readonly failed: string } | Told;

/** Three processes that share a Redis; SIGKILL is the crash. */
export class ProcessFleet implements Fleet {
  readonly description: string;
  private readonly children = new Set<ChildProcess>();
  /** What an earlier run has left must not be in the way of this one. */
  private readonly namespace = `singleton-cron-${Date.now().toString(36)}`;

  constructor(private readonly redisUrl: string) {
    this.description = `Store: Redis at ${new URL(redisUrl).host}. The replicas are three processes.`;
    process.once('exit', () => this.kill());
  }

  async start(name: string, shiftMs: number, tell: (told: Told) => void): Promise<Replica> {
    const { redisUrl, namespace } = this;
    const child = fork(PROGRAM, [JSON.stringify({ name, shiftMs, redisUrl, namespace })]);
    this.children.add(child);
    child.once('exit', () => this.children.delete(child));
    await new Promise<void>((resolve, reject) => {
      child.on('message', (message: ReplicaMessage) => {
        if ('up' in message) resolve();
        else if ('failed' in message) reject(new Error(message.failed));
        else tell(message);
      });
      child.once('exit', () => reject(new Error(`The process of ${name} has ended.`)));
    });
    return {
      name,
      shiftMs,
      kill: async () => {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      },
    };
  }

  async stop(): Promise<void> {
    const gone = [...this.children].map((child) => once(child, 'exit'));
    this.kill();
    await Promise.all(gone);
  }

  private kill(): void {
    for (const child of this.children) child.kill('SIGKILL');
  }
}
