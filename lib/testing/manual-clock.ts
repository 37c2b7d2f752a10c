import type { Clock, ClockTimer } from '../time/clock.js';

/** Taken at load time, so that the fake timers of a test runner do not stop `settle()`. */
const nextTurn = setImmediate;
/** Node never fires a timer sooner than this, so neither do we: a timer that arms itself again cannot stop the time. */
const SHORTEST_TIMER_MS = 1;
const DEFAULT_WALL = Date.UTC(2026, 0, 1);

/** How a `ManualClock` starts. */
export interface ManualClockOptions {
  /** Wall-clock time at the start, in milliseconds since the epoch. Default: 2026-01-01T00:00:00Z. */
  readonly wall?: number;
  /** `false`: `suspended()` answers `undefined`, as on systems that do not tell. Default: true. */
  readonly tellsSuspended?: boolean;
}

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/**
 * A clock for tests: time stands still until you move it, and timers fire while you do, in order and each at its own time.
 *
 * ```ts
 * const clock = new ManualClock();
 * const store = new MemoryLeaseStore({ clock });
 * await clock.advanceAsync(30_000);   // half a minute in no time; promises run between the timers
 * ```
 *
 * `advance` is enough for code that does all its work inside its timers; code that awaits between them needs `advanceAsync`.
 */
export class ManualClock implements Clock {
  private now = 0;
  private wallNow: number;
  private suspendedFor = 0;
  private readonly tellsSuspended: boolean;
  /** In the order in which they were set: the earlier of two that are due together fires first. */
  private readonly timers = new Set<Timer>();

  constructor(options: ManualClockOptions = {}) {
    this.wallNow = options.wall ?? DEFAULT_WALL;
    this.tellsSuspended = options.tellsSuspended ?? true;
  }

  /** Milliseconds by which time was advanced; starts at 0. */
  monotonic(): number {
    return this.now;
  }

  wall(): number {
    return this.wallNow;
  }

  suspended(): number | undefined {
    return this.tellsSuspended ? this.suspendedFor : undefined;
  }

  /** How many timers are armed: what has been closed should leave none. */
  get pendingTimers(): number {
    return this.timers.size;
  }

  /** As with Node, less than 1 ms counts as 1 ms. */
  setTimer(fn: () => void, ms: number): ClockTimer {
    const timer: Timer = { at: this.now + (ms > SHORTEST_TIMER_MS ? ms : SHORTEST_TIMER_MS), fn };
    this.timers.add(timer);
    return { cancel: () => void this.timers.delete(timer) };
  }

  /**
   * Time goes by, on the monotonic and the wall clock alike. Timers that fall due fire in order, each at its own time, those
   * that were set by other timers included. An error thrown by a timer comes out here, at the time of that timer.
   * @throws RangeError when `ms` is negative or not finite
   */
  advance(ms: number): void {
    const target = this.now + elapse('advance', ms);
    for (let timer = this.nextDue(target); timer; timer = this.nextDue(target)) this.fire(timer);
    this.moveTo(target);
  }

  /**
   * As `advance`, and after each timer everything that only waits for promises runs to its end before time goes on.
   * @throws RangeError when `ms` is negative or not finite
   */
  async advanceAsync(ms: number): Promise<void> {
    const target = this.now + elapse('advanceAsync', ms);
    await this.settle();
    for (let timer = this.nextDue(target); timer; timer = this.nextDue(target)) {
      this.fire(timer);
      await this.settle();
    }
    this.moveTo(target);
  }

  /** Lets promise callbacks run, and what was set with `setImmediate` before, while time stands still. Does not wait for I/O. */
  async settle(): Promise<void> {
    await new Promise<void>((resolve) => nextTurn(resolve));
  }

  /**
   * The machine sleeps: the wall clock goes on, `suspended()` grows by as much, the monotonic clock stands still and no timer
   * fires.
   * @throws RangeError when `ms` is negative or not finite
   */
  suspend(ms: number): void {
    const slept = elapse('suspend', ms);
    this.wallNow += slept;
    this.suspendedFor += slept;
  }

  /** Somebody sets the wall clock, forward or (negative) back. Nothing else changes. */
  stepWall(ms: number): void {
    if (!Number.isFinite(ms)) throw new RangeError(`stepWall(${String(ms)}): give a finite number of milliseconds.`);
    this.wallNow += ms;
  }

  private nextDue(target: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.timers) {
      if (timer.at <= target && (next === undefined || timer.at < next.at)) next = timer;
    }
    return next;
  }

  private fire(timer: Timer): void {
    this.timers.delete(timer);
    this.moveTo(timer.at);
    timer.fn();
  }

  /** Never back: a timer may itself have advanced the clock. */
  private moveTo(at: number): void {
    const by = Math.max(0, at - this.now);
    this.now += by;
    this.wallNow += by;
  }
}

function elapse(call: string, ms: number): number {
  if (Number.isFinite(ms) && ms >= 0) return ms;
  throw new RangeError(
    `${call}(${String(ms)}): time only goes forward; give milliseconds, zero or more. For the wall clock alone use stepWall().`,
  );
}
