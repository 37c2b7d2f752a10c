import { checkToken, refused, type FencedBy } from './fenced-by.js';
import { refuses, type Fence, type FencingGuard } from './fencing-guard.js';

/** A guard in the memory of this process: for tests, and for what only this process can reach. Forgets with the process. */
export class MemoryFencingGuard implements FencingGuard {
  private readonly fences = new Map<string, Fence>();
  private readonly turns = new Map<string, Promise<unknown>>();

  accept(resource: string, token: number, holderTag: string): Promise<void> {
    return this.inTurn(resource, () => this.check(resource, { key: resource, fencingToken: token, holderTag }));
  }

  /**
   * Runs `write` if `lease` is not stale, and lets nobody else past this resource until it has settled, as a row lock would.
   * @throws StaleFencingTokenError and then `write` was not called
   */
  write<T>(resource: string, lease: FencedBy, write: () => T | Promise<T>): Promise<T> {
    return this.inTurn(resource, () => {
      this.check(resource, lease);
      return write();
    });
  }

  /** What `resource` has accepted last; `undefined` before the first time. */
  current(resource: string): Fence | undefined {
    return this.fences.get(resource);
  }

  private check(resource: string, lease: FencedBy): void {
    const { fencingToken: token, holderTag } = lease;
    checkToken(token, holderTag);
    const fence = this.fences.get(resource);
    if (refuses(fence, token, holderTag)) throw refused(resource, lease, { current: fence?.token });
    this.fences.set(resource, { token, holderTag });
  }

  private inTurn<T>(resource: string, job: () => T | Promise<T>): Promise<T> {
    const before = this.turns.get(resource) ?? Promise.resolve();
    const mine = before.then(job, job);
    this.turns.set(resource, mine);
    const leave = (): void => {
      if (this.turns.get(resource) === mine) this.turns.delete(resource);
    };
    mine.then(leave, leave);
    return mine;
  }
}
