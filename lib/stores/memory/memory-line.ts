import type { AcquireRequest, WaitPlace } from '../lease-store.js';

/** How long a process counts as alive after its last word. */
export const ALIVE_MS = 10_000;

/** One that waits. */
export interface Waiting {
  readonly process: string;
  readonly holderId: string;
  readonly holderTag: string;
  readonly holder: string;
  readonly ticket: number;
  readonly claimMs: number;
}

/** The line for one lease: waiters by ticket, one deadline of liveness for each process, and who has the offer. */
export class MemoryLine {
  /** Sorted by ticket. */
  private waiters: Waiting[] = [];
  private readonly alive = new Map<string, number>();
  private offeredTo: Waiting | undefined;

  get length(): number {
    return this.waiters.length;
  }

  has(holderId: string): boolean {
    return this.waiters.some((waiter) => waiter.holderId === holderId);
  }

  get over(): boolean {
    return this.waiters.length === 0 && this.offeredTo === undefined;
  }

  get offer(): Waiting | undefined {
    return this.offeredTo;
  }

  /** A place in the line: the one it has, the one of its ticket, or the last. */
  enter(request: AcquireRequest, place: WaitPlace, now: number): Waiting {
    this.attend(place.process, now, true);
    const known = this.waiters.find((waiter) => waiter.holderId === request.holderId);
    if (known) return known;
    const { holderId, holderTag, holder } = request;
    const last = this.waiters.at(-1)?.ticket ?? 0;
    const ticket = place.ticket ?? Math.max(last + 1, now * 1000);
    const waiting = { process: place.process, holderId, holderTag, holder, ticket, claimMs: place.claimMs };
    const behind = this.waiters.findIndex((waiter) => waiter.ticket > ticket);
    this.waiters.splice(behind < 0 ? this.waiters.length : behind, 0, waiting);
    return waiting;
  }

  leave(holderId: string): void {
    this.waiters = this.waiters.filter((waiter) => waiter.holderId !== holderId);
  }

  /** Says that a process is alive; false when the line does not know it. */
  attend(process: string, now: number, enter = false): boolean {
    if (!enter && !this.alive.has(process)) return false;
    this.alive.set(process, now + ALIVE_MS);
    return true;
  }

  /** Takes the first of a live process out of the line; those of dead ones before it are forgotten with their process, and come back with their tickets. */
  next(now: number): Waiting | undefined {
    for (;;) {
      const head = this.waiters.shift();
      if (head === undefined || this.isAlive(head.process, now)) return head;
      this.alive.delete(head.process);
    }
  }

  /** Those of dead processes go, so that they keep nobody out of a line that is full. */
  dropDead(now: number): void {
    for (const { process } of this.waiters) if (!this.isAlive(process, now)) this.alive.delete(process);
    this.waiters = this.waiters.filter(({ process }) => this.alive.has(process));
  }

  offered(waiting: Waiting): void {
    this.offeredTo = waiting;
  }

  claimed(): void {
    this.offeredTo = undefined;
  }

  /** Nobody claimed the offer in time: its process counts as dead until it asks again. */
  lapsed(): boolean {
    if (this.offeredTo === undefined) return false;
    this.alive.delete(this.offeredTo.process);
    this.offeredTo = undefined;
    return true;
  }

  private isAlive(process: string, now: number): boolean {
    return (this.alive.get(process) ?? 0) > now;
  }
}
