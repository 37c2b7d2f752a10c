import { backoffMs } from '../time/backoff.js';
import type { Clock, ClockTimer } from '../time/clock.js';

/** What a request may have left behind, or may yet leave. */
export interface Leftover {
  /** From now on; after it the key is gone by itself. */
  readonly ttlMs: number;
  /** The request that nobody waits for any more, where it is still under way: it may yet be carried out. */
  readonly pending?: Promise<unknown> | undefined;
}

export interface TakeBacksOptions<L> {
  readonly clock: Clock;
  /** One try, which settles within a time limit of its own. */
  readonly takeBack: (leftover: L) => Promise<unknown>;
  /** About so long after a try that failed comes the next one; then twice as long, and so on. */
  readonly firstPauseMs: number;
  /** Whether a request that failed so has left nothing behind, and will not. Default: none. */
  readonly neverLeft?: (error: unknown) => boolean;
}

interface Entry<L> {
  readonly leftover: L;
  until: number;
  requestOver: boolean;
  /** It was taken back once at least. */
  tried: boolean;
}

/** Tries that travel at once while the store answers; while it does not, one at a time asks for all. */
const MOST_AT_ONCE = 100;
/** How often a leftover whose request never settled is taken back again. */
const REPEAT_MS = 1000;
const LONGEST_PAUSE_MS = 2000;

/**
 * Takes back, in the background, what requests may have left behind: each until that was confirmed after the request itself was
 * over, or the ttl has passed and the key is gone by itself.
 */
export class TakeBacks<L extends Leftover> {
  private readonly entries = new Set<Entry<L>>();
  private readonly idlers: (() => void)[] = [];
  private timer: ClockTimer | undefined;
  private running = false;
  private failures = 0;
  private closed = false;

  constructor(private readonly options: TakeBacksOptions<L>) {}

  /** How many may still be there. */
  get size(): number {
    return this.entries.size;
  }

  /** It is tried for `lifeMs` at most. */
  add(leftover: L, lifeMs = leftover.ttlMs): void {
    if (this.closed) return;
    const { pending } = leftover;
    const entry = { leftover, until: this.options.clock.monotonic() + lifeMs, requestOver: pending === undefined, tried: false };
    const over = (): void => {
      entry.requestOver = true;
      if (this.entries.has(entry)) this.pump();
    };
    this.entries.add(entry);
    pending?.then(over, (error: unknown) => {
      if (this.options.neverLeft?.(error)) this.entries.delete(entry);
      else over();
    });
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
    if (this.idlers.length === 0 || !this.isIdle()) return;
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
      this.timer = this.options.clock.setTimer(() => this.pump(), this.pauseMs());
    });
  }

  private pauseMs(): number {
    if (this.failures > 0) return backoffMs(this.failures - 1, this.options.firstPauseMs, LONGEST_PAUSE_MS);
    for (const entry of this.entries) if (entry.requestOver) return 0;
    return REPEAT_MS;
  }

  private async round(): Promise<void> {
    const now = this.options.clock.monotonic();
    for (const entry of this.entries) if (entry.until <= now) this.entries.delete(entry);
    const batch = [...this.entries].slice(0, this.failures > 0 ? 1 : MOST_AT_ONCE);
    const done = await Promise.all(batch.map((entry) => this.attempt(entry)));
    if (batch.length > 0) this.failures = done.includes(false) ? this.failures + 1 : 0;
  }

  private async attempt(entry: Entry<L>): Promise<boolean> {
    const final = entry.requestOver;
    const { clock, takeBack } = this.options;
    try {
      await takeBack(entry.leftover);
    } catch {
      return false;
    }
    entry.tried = true;
    this.entries.delete(entry);
    // Until the request itself is over it may still be carried out: to the end of the queue with it.
    if (!final && !this.closed) this.entries.add(entry);
    entry.until = Math.min(entry.until, clock.monotonic() + entry.leftover.ttlMs);
    return true;
  }
}
