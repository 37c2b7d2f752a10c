import * as os from 'node:os';
import type { Clock, ClockTimer } from './clock.js';

/** Node fires a timer above this at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

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
    return os.uptime() * 1000 - performance.now();
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
