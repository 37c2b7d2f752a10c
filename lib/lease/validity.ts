import type { Clock } from '../time/clock.js';

/** A moment on the clocks that are cheap to read. */
export interface Moment {
  readonly mono: number;
  readonly wall: number;
}

/** A moment on all clocks of the machine. */
export interface Stamp extends Moment {
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

/** Reads the clocks once, for a loop over many leases. */
export function momentOf(clock: Clock): Moment {
  return { mono: clock.monotonic(), wall: clock.wall() };
}

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

/** A deadline: so many milliseconds after an acknowledged request left. */
interface Deadline {
  sent: Stamp;
  ms: number;
}

/**
 * The two deadlines of a lease, both counted from the clock before an acknowledged request left: soft = 2/3 of the ttl (from
 * there on the holder must stop), hard = the ttl less 1 % and 2 ms (from there on somebody else may start). Each is the latest
 * that any acknowledged request gives, since a request for a short ttl may move the one and not the other.
 */
export class Validity {
  private readonly soft: Deadline;
  private readonly hard: Deadline;

  constructor(
    private readonly clock: Clock,
    sent: Stamp,
    ttlMs: number,
  ) {
    this.soft = { sent, ms: softMs(ttlMs) };
    this.hard = { sent, ms: hardMs(ttlMs) };
  }

  /**
   * An acknowledged request moves the deadlines, but never back: late and duplicate answers are harmless. After a suspend the
   * store's word is all there is, so what it said counts from when it was asked.
   */
  confirm(sent: Stamp, ttlMs: number, now = momentOf(this.clock)): void {
    const afresh = sent.wall > this.soft.sent.wall && this.judge(now) === 'suspect';
    move(this.soft, sent, softMs(ttlMs), afresh);
    move(this.hard, sent, hardMs(ttlMs), afresh);
  }

  /** Computed from the clocks at the call, unless the moment is given. */
  judge(now = momentOf(this.clock)): Verdict {
    const { sent, ms } = this.soft;
    if (now.mono - sent.mono >= ms) return 'expired';
    if (now.wall - sent.wall < ms) return 'held';
    return this.wasSuspended(this.soft) ? 'suspect' : 'held';
  }

  /** Until the soft deadline, by the clock that timers run on. */
  softInMs(mono = this.clock.monotonic()): number {
    return this.soft.sent.mono + this.soft.ms - mono;
  }

  /** Until the hard deadline, at least 0. */
  remainingMs(): number {
    const { sent, ms } = this.hard;
    const mono = this.clock.monotonic() - sent.mono;
    const wall = this.clock.wall() - sent.wall;
    // The two clocks agree but for their granularity, unless one was stepped or the machine was suspended.
    const apart = wall - mono >= SUSPEND_TOLERANCE_MS && this.wasSuspended(this.hard);
    return Math.max(0, Math.floor(ms - (apart ? wall : mono)));
  }

  /** True unless the system says that it was not: then the wall clock was stepped, and its reading is set right. */
  private wasSuspended(deadline: Deadline): boolean {
    const { sent } = deadline;
    const now = sent.suspended === undefined ? undefined : this.clock.suspended();
    if (now === undefined || sent.suspended === undefined) return true;
    if (now - sent.suspended >= SUSPEND_TOLERANCE_MS) return true;
    deadline.sent = { ...sent, wall: this.clock.wall() - (this.clock.monotonic() - sent.mono) };
    return false;
  }
}

/** Never back, unless it counts afresh. */
function move(deadline: Deadline, sent: Stamp, ms: number, afresh: boolean): void {
  if (!afresh && deadline.sent.mono + deadline.ms > sent.mono + ms) return;
  deadline.sent = sent;
  deadline.ms = ms;
}
