import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Fleet, Replica } from './replica.js';

const PROGRAM = fileURLToPath(new URL('./replica-process.js', import.meta.url));

/** What a replica's process tells: its address, `armed` or `frozen`; or why it could not start. */
export interface ReplicaMessage {
  readonly url?: string;
  readonly said?: 'armed' | 'frozen';
  readonly failed?: string;
}

/** Three processes that share a Redis. SIGSTOP freezes one, SIGKILL is the crash. */
export class ProcessFleet implements Fleet {
  readonly description: string;
  readonly freezing = 'SIGSTOP';
  readonly crashing = 'SIGKILL';
  private readonly children = new Set<ChildProcess>();
  /** Leases of an earlier run that was interrupted must not be in the way of this one. */
  private readonly namespace = `quick-start-${Date.now().toString(36)}`;

  constructor(
    private readonly redisUrl: string,
    private readonly tableUrl: string,
  ) {
    this.description = `Store: Redis at ${withoutPassword(redisUrl)}. The replicas are three processes.`;
    // Also when this process is ended by a signal: a frozen child would stay for ever.
    process.once('exit', () => this.kill());
  }

  async start(name: string, port: number): Promise<Replica> {
    const { redisUrl, tableUrl, namespace } = this;
    const child = fork(PROGRAM, [JSON.stringify({ name, port, redisUrl, tableUrl, namespace })]);
    this.children.add(child);
    child.once('exit', () => this.children.delete(child));
    const heard = (wanted: keyof ReplicaMessage, value?: string): Promise<string> => hear(child, wanted, value);
    const url = await heard('url');
    const frozen = heard('said', 'frozen');
    frozen.catch(() => undefined);
    return {
      name,
      url,
      freezeAtNextWrite: async () => {
        child.send('freeze');
        await heard('said', 'armed');
      },
      frozen: async () => void (await frozen),
      resume: () => void child.kill('SIGCONT'),
      crash: async () => {
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

/** The next message that has this field (with this value). Rejects when the process says that it failed, or ends. */
function hear(child: ChildProcess, wanted: keyof ReplicaMessage, value?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: ReplicaMessage) => {
      if (message.failed !== undefined) reject(new Error(message.failed));
      const said = message[wanted];
      if (said !== undefined && (value === undefined || said === value)) resolve(said);
    });
    child.once('exit', () => reject(new Error('The process of a replica has ended.')));
  });
}

function withoutPassword(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'REDIS_URL';
  }
}
