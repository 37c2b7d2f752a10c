import type { LeaseStore, WaitPlace } from '../stores/lease-store.js';
import type { Clock, ClockTimer } from '../time/clock.js';
import { backoffMs } from './backoff.js';
import { withTimeLimit } from './time-limit.js';

/** What may be left behind at the store. */
export interface Leftover {
  readonly key: string;
  readonly holderId: string;
  readonly holderTag: string;
  /** The place in the line that it took, or may take. */
  readonly wait?: WaitPlace | undefined;
  /** From now on; after it the key is gone by itself. */
  readonly ttlMs: number;
  /** Longest time one try may take. */
  readonly limitMs: number;
  /** The request that nobody waits for any more, where it is still under way: it may yet be carried out. */
  readonly pending?: Promise<unknown> | undefined;
  /** Default: by `LeaseStore.leave`. */
  readonly takeBack?: (() => Promise<unknown>) | undefined;
}

interface Entry extends Leftover {
  until: number;
  requestOver: boolean;
  /** It was taken back once at least. */
  tried: boolean;
}

/** Tries that travel at once while the store answers; while it does not, one at a time asks for all. */
const MOST_AT_ONCE = 100;
/** A place in the line does not end by itself while its process waits for the same key: it is taken back for so long. */
const PLACE_LIFE_MS = 86_400_000;
/** How often a leftover whose request never settled is taken back again. */
const REPEAT_MS = 1000;

/**
 * Takes back, in the background, what a request may have left at the store: by its holderId, which is never used again, until
 * the store has confirmed after the request itself was over, or the ttl has passed and the key is gone by itself.
 */
export class Undoer {
  private readonly entries = new Set<Entry>();
  private readonly idlers: (() => void)[] = [];
  private timer: ClockTimer | undefined;
  private running = false;
  private failures = 0;
  private closed = false;

  constructor(
    private readonly store: LeaseStore,
    private readonly clock: Clock,
  ) {}

  /** How many may still be there. */
  get size(): number {
    return this.entries.size;
  }

  undo(leftover: Leftover): void {
    if (this.closed) return;
    const lifeMs = leftover.wait === undefined ? leftover.ttlMs : Math.max(leftover.ttlMs, PLACE_LIFE_MS);
    const entry: Entry = { ...leftover, until: this.clock.monotonic() + lifeMs, requestOver: leftover.pending === undefined, tried: false };
    const over = (): void => {
      entry.requestOver = true;
      if (this.entries.has(entry)) this.pump();
    };
    this.entries.add(entry);
    leftover.pending?.then(over, over);
    if (this.failures === 0) this.pump();
  }

  /** Resolves when all has been taken back once, or a try has failed: who waits here is about to leave. */
  idle(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.idlers.push(resolve));
  }

  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.entries.clear();
    this.tellIdle();
  }

  private isIdle(): boolean {
    if (this.failures > 0 || this.closed) return true;
    for (const entry of this.entries) if (!entry.tried) return false;
    return true;
  }

  private tellIdle(): void {
    if (!this.isIdle()) return;
    for (const resolve of this.idlers.splice(0)) resolve();
  }

  private pump(): void {
    if (this.running || this.closed) return;
    this.timer?.cancel();
    this.running = true;
    void this.round().then(() => {
      this.running = false;
      this.tellIdle();
      if (this.closed || this.entries.size === 0) return;
      const wait = this.failures > 0 ? backoffMs(this.failures - 1, 50, 2000) : this.hasReady() ? 0 : REPEAT_MS;
      this.timer = this.clock.setTimer(() => this.pump(), wait);
    });
  }

  private hasReady(): boolean {
    for (const entry of this.entries) if (entry.requestOver) return true;
    return false;
  }

  private async round(): Promise<void> {
    const now = this.clock.monotonic();
    for (const entry of this.entries) if (entry.until <= now) this.entries.delete(entry);
    const batch = [...this.entries].slice(0, this.failures > 0 ? 1 : MOST_AT_ONCE);
    const done = await Promise.all(batch.map((entry) => this.attempt(entry)));
    if (batch.length > 0) this.failures = done.includes(false) ? this.failures + 1 : 0;
  }

  private async attempt(entry: Entry): Promise<boolean> {
    const final = entry.requestOver;
    const { key, holderId, holderTag, wait } = entry;
    try {
      const call = entry.takeBack?.() ?? this.store.leave({ key, holderId, holderTag, wait });
      await withTimeLimit(this.clock, entry.limitMs, call, () => this.store.unanswered?.());
      entry.tried = true;
      this.entries.delete(entry);
      // Until the request itself is over it may still be carried out: to the end of the queue with it.
      if (!final && !this.closed) this.entries.add(entry);
      entry.until = Math.min(entry.until, this.clock.monotonic() + entry.ttlMs);
      return true;
    } catch {
      return false;
    }
  }
}
