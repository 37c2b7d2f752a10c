import * as os from 'node:os';
import type { Clock, ClockTimer } from './clock.js';

/** Node fires a timer above this at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The system's uptime is read from a file in far less than this. */
const LONGEST_READING_MS = 2;

/** The clock of the machine. */
export class SystemClock implements Clock {
  monotonic(): number {
    return performance.now();
  }

  wall(): number {
    return Date.now();
  }

  suspended(): number | undefined {
    // On Linux the uptime counts suspended time and the monotonic clock does not; elsewhere nothing is promised.
    if (process.platform !== 'linux') return undefined;
    // A pause of the process between the two readings would look like a suspend that never was, or hide one: read again.
    let before = performance.now();
    let uptime = os.uptime();
    for (let tries = 0; performance.now() - before > LONGEST_READING_MS && tries < 3; tries++) {
      before = performance.now();
      uptime = os.uptime();
    }
    return uptime * 1000 - before;
  }

  setTimer(fn: () => void, ms: number): ClockTimer {
    return new SystemTimer(fn, ms);
  }
}

/** A class, not closures: every call to a store has one. */
class SystemTimer implements ClockTimer {
  private handle: NodeJS.Timeout;

  constructor(
    private readonly fn: () => void,
    ms: number,
  ) {
    this.handle = this.arm(ms);
  }

  cancel(): void {
    clearTimeout(this.handle);
  }

  private arm(ms: number): NodeJS.Timeout {
    // Node cuts off the fraction, which would fire too early.
    const step = Math.ceil(Math.min(ms, LONGEST_TIMER_MS));
    const over = ms > step ? () => void (this.handle = this.arm(ms - step)) : this.fn;
    const timer = setTimeout(over, step);
    timer.unref();
    return timer;
  }
}
