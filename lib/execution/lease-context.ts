import { AsyncLocalStorage } from 'node:async_hooks';
import type { SharedLease } from './shared-lease.js';

/** A call that runs under a lease, and the one it runs inside. */
export interface Frame {
  /** Of which service: those of another share neither keys nor leases. */
  readonly owner: object;
  readonly shared: SharedLease;
  /** Where the call was declared, for messages. */
  readonly site: string;
  readonly outer: Frame | undefined;
}

/** Which leased calls the running code is inside of. One for each application, so that two in a process are strangers. */
export class LeaseContext {
  private readonly storage = new AsyncLocalStorage<Frame>();

  /** The innermost frame, whatever became of it. */
  get frame(): Frame | undefined {
    return this.storage.getStore();
  }

  run<T>(frame: Frame, fn: () => T): T {
    return this.storage.run(frame, fn);
  }

  /** The innermost call of `owner` that has not settled, of `key` where it is given. */
  find(owner: object, key?: string, from: Frame | undefined = this.frame): Frame | undefined {
    for (let frame = from; frame; frame = frame.outer) {
      if (frame.owner === owner && !frame.shared.over && (key === undefined || frame.shared.lease.key === key)) return frame;
    }
    return undefined;
  }

  /** True inside a leased call that has not settled, of whichever service. */
  inside(): boolean {
    for (let frame = this.frame; frame; frame = frame.outer) if (!frame.shared.over) return true;
    return false;
  }

  /** Called by Nest. A storage that is not let go costs every asynchronous step of the process something, long after its application has gone. */
  onApplicationShutdown(): void {
    this.storage.disable();
  }
}
