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
    let handle = arm(ms);
    function arm(left: number): NodeJS.Timeout {
      // Node cuts off the fraction, which would fire too early.
      const step = Math.ceil(Math.min(left, LONGEST_TIMER_MS));
      const timer = setTimeout(() => {
        if (left > step) handle = arm(left - step);
        else fn();
      }, step);
      timer.unref();
      return timer;
    }
    return { cancel: () => clearTimeout(handle) };
  }
}
