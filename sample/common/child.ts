import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Link, type Handlers } from './link.js';

const children = new Set<ChildProcess>();
// Also when this process is ended by a signal: a frozen child would stay for ever.
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** One replica in a process of its own. */
export class Child {
  private constructor(
    private readonly child: ChildProcess,
    readonly link: Link,
  ) {}

  /** Starts a program that calls `ready` when it is. `settings` reach it as JSON in its only argument. */
  static async start(program: URL, settings: object, handlers: Handlers): Promise<Child> {
    const child = fork(fileURLToPath(program), [JSON.stringify(settings)]);
    children.add(child);
    const gone = once(child, 'exit').then(() => children.delete(child));
    let link: Link | undefined;
    await new Promise<void>((ready, reject) => {
      const failed = (why: string): void => reject(new Error(why));
      link = new Link(child, { ...handlers, ready, failed });
      void gone.then(() => {
        link?.breakOff();
        reject(new Error('The process of a replica has ended.'));
      });
    });
    return new Child(child, link as Link);
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** SIGKILL, the crash. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}

/** For the program of a child: runs `start`, and tells the parent that it is ready, or why it is not. */
export async function runChild<S>(handlers: Handlers, start: (settings: S, parent: Link) => Promise<void>): Promise<void> {
  process.once('disconnect', () => process.exit());
  // Ctrl-C reaches every process of the terminal; the first one ends the others.
  process.on('SIGINT', () => undefined);
  const parent = new Link(process, handlers);
  try {
    await start(JSON.parse(process.argv[2] ?? '{}') as S, parent);
    await parent.call('ready');
  } catch (error) {
    await parent.call('failed', error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
