import type { AcquireRequest, Attended, AttendRequest, Wake } from '../lease-store.js';
import type { HeldLease } from './held-lease.js';
import { MemoryLine, type Waiting } from './memory-line.js';

/** What the lines ask of the leases around them. */
export interface LineTable {
  held(key: string, now: number): HeldLease | undefined;
  put(key: string, lease: HeldLease, now: number): void;
  /** The highest token given so far. */
  lastToken(key: string, now: number): number;
}

/** Who waits for which lease, with the rules of the Redis store: in the order in which they came, one liveness for each process. */
export class MemoryLines {
  private readonly lines = new Map<string, MemoryLine>();
  private readonly listeners = new Map<string, (wake: Wake) => void>();

  constructor(private readonly table: LineTable) {}

  has(key: string): boolean {
    return this.lines.has(key);
  }

  lengthOf(key: string): number {
    return this.lines.get(key)?.length ?? 0;
  }

  listen(process: string, listener: (wake: Wake) => void): () => void {
    this.listeners.set(process, listener);
    return () => void this.listeners.delete(process);
  }

  /** A place in the line for a busy lease, or `undefined` when the line is too long. */
  enter(request: AcquireRequest, now: number): Waiting | undefined {
    const { key, wait } = request;
    if (wait === undefined) return undefined;
    const line = this.lines.get(key) ?? new MemoryLine();
    const isFull = (): boolean => wait.maxQueue > 0 && line.length >= wait.maxQueue;
    if (wait.ticket === undefined && isFull() && !line.has(request.holderId)) {
      line.dropDead(now);
      if (isFull()) return undefined;
    }
    this.lines.set(key, line);
    return line.enter(request, wait, now);
  }

  /**
   * A free lease with a line: `undefined` when it is this one's turn, else the reservation for the one whose turn it is. After an
   * offer that nobody claimed it goes to whoever asks and waits, since that one is alive for certain.
   */
  turn({ key, holderId, wait }: AcquireRequest, now: number): HeldLease | undefined {
    const line = this.lines.get(key);
    if (line === undefined) return undefined;
    const lapsed = line.lapsed();
    if (wait) line.attend(wait.process, now, true);
    const first = wait && lapsed ? undefined : line.next(now);
    if (first && first.holderId !== holderId) return this.offer(key, line, first, now);
    line.leave(holderId);
    this.tidy(key);
    return undefined;
  }

  /** The one to whom it was offered has taken it. */
  claimed(key: string): void {
    this.lines.get(key)?.claimed();
    this.tidy(key);
  }

  leave(key: string, holderId: string, now: number): void {
    const line = this.lines.get(key);
    line?.leave(holderId);
    const hadOffer = line?.offer?.holderId === holderId;
    if (hadOffer) line.claimed();
    // One that leaves a free lease sees to it that the line goes on; an offer that lapsed is for the next that asks.
    else if (line && line.offer === undefined && this.table.held(key, now) === undefined) this.free(key, now);
    this.tidy(key);
  }

  /** A lease is over: offers it to the first of a live process. */
  free(key: string, now: number): void {
    const line = this.lines.get(key);
    line?.claimed();
    const first = line?.next(now);
    if (line && first) this.offer(key, line, first, now);
    else this.tidy(key);
  }

  attend({ key, process }: AttendRequest, now: number): Attended {
    const line = this.lines.get(key);
    const lease = this.table.held(key, now);
    const kind = line?.attend(process, now) ? 'kept' : 'forgotten';
    const offered = lease && line?.offer?.process === process ? line.offer.holderId : undefined;
    return { kind, remainingMs: lease ? Math.min(lease.expiresAt - now, lease.ttlMs) : 0, offered };
  }

  private offer(key: string, line: MemoryLine, first: Waiting, now: number): HeldLease {
    const { process, holderId, holderTag, holder, claimMs } = first;
    const fencingToken = this.table.lastToken(key, now);
    const about = { holderId, holderTag, holder, fencingToken, since: now };
    const reserved: HeldLease = { ...about, state: 'reserved', ttlMs: claimMs, expiresAt: now + claimMs };
    this.table.put(key, reserved, now);
    line.offered(first);
    queueMicrotask(() => this.listeners.get(process)?.({ kind: 'offer', holderId }));
    return reserved;
  }

  private tidy(key: string): void {
    if (this.lines.get(key)?.over) this.lines.delete(key);
  }
}
