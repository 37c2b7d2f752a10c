import type { Clock } from '../time/clock.js';

/** A moment on all clocks of the machine. */
export interface Stamp {
  readonly mono: number;
  readonly wall: number;
  readonly suspended: number | undefined;
}

/** What the clocks say of a lease. `suspect`: only the wall clock has passed the deadline, perhaps since the machine was suspended. */
export type Verdict = 'held' | 'suspect' | 'expired';

/** The system's uptime is read in steps of 10 ms; what is shorter is no suspend. */
const SUSPEND_TOLERANCE_MS = 20;
/** How old a reading of the suspended time may be when a request leaves: an older one only means one question too many. */
const SUSPEND_SAMPLE_MS = 1000;

const softMs = (ttlMs: number): number => (ttlMs * 2) / 3;
/** The clocks of two machines run at rates that differ by less than 1 %; 2 ms cover the granularity of timers and expiry. */
const hardMs = (ttlMs: number): number => ttlMs - (ttlMs * 0.01 + 2);

/** Takes stamps, reading the expensive one (the system's uptime) at most once a second. */
export class Stamper {
  private sampledAt = -Infinity;
  private sample: number | undefined;

  constructor(private readonly clock: Clock) {}

  /** Now, for a request that is about to leave. */
  stamp(): Stamp {
    const mono = this.clock.monotonic();
    if (mono - this.sampledAt >= SUSPEND_SAMPLE_MS) {
      this.sampledAt = mono;
      this.sample = this.clock.suspended();
    }
    return { mono, wall: this.clock.wall(), suspended: this.sample };
  }
}

/**
 * The two deadlines of a lease, both counted from the clock before the last acknowledged request left: soft = 2/3 of the ttl
 * (from there on the holder must stop), hard = the ttl less 1 % and 2 ms (from there on somebody else may start).
 */
export class Validity {
  constructor(
    private readonly clock: Clock,
    private sent: Stamp,
    private ttlMs: number,
  ) {}

  /**
   * An acknowledged request moves the deadlines, but never back: late and duplicate answers are harmless. After a suspend the
   * store's word is all there is, so what it said counts from when it was asked.
   */
  confirm(sent: Stamp, ttlMs: number): void {
    const later = sent.mono + hardMs(ttlMs) >= this.sent.mono + hardMs(this.ttlMs);
    if (!later && !(sent.wall > this.sent.wall && this.judge() === 'suspect')) return;
    this.sent = sent;
    this.ttlMs = ttlMs;
  }

  /** Computed from the clocks at the call. */
  judge(): Verdict {
    const soft = softMs(this.ttlMs);
    if (this.clock.monotonic() - this.sent.mono >= soft) return 'expired';
    if (this.clock.wall() - this.sent.wall < soft) return 'held';
    return this.wasSuspended() ? 'suspect' : 'held';
  }

  /** Until the soft deadline, by the clock that timers run on. */
  softInMs(): number {
    return this.sent.mono + softMs(this.ttlMs) - this.clock.monotonic();
  }

  /** Until the hard deadline, at least 0. */
  remainingMs(): number {
    const mono = this.clock.monotonic() - this.sent.mono;
    const wall = this.clock.wall() - this.sent.wall;
    const elapsed = wall > mono && wall >= softMs(this.ttlMs) && this.wasSuspended() ? wall : mono;
    return Math.max(0, Math.floor(hardMs(this.ttlMs) - elapsed));
  }

  /** True unless the system says that it was not: then the wall clock was stepped, and its reading is set right. */
  private wasSuspended(): boolean {
    const now = this.sent.suspended === undefined ? undefined : this.clock.suspended();
    if (now === undefined || this.sent.suspended === undefined) return true;
    if (now - this.sent.suspended >= SUSPEND_TOLERANCE_MS) return true;
    const elapsed = this.clock.monotonic() - this.sent.mono;
    this.sent = { ...this.sent, wall: this.clock.wall() - elapsed };
    return false;
  }
}
