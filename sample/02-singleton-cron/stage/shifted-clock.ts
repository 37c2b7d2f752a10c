import type { Clock, ClockTimer } from 'nestjs-lease';

/** The clock of a machine whose time of day is wrong by `shiftMs`. */
export class ShiftedClock implements Clock {
  constructor(private readonly shiftMs: number) {}

  monotonic(): number {
    return performance.now();
  }

  wall(): number {
    return Date.now() + this.shiftMs;
  }

  suspended(): undefined {
    return undefined;
  }

  setTimer(fn: () => void, ms: number): ClockTimer {
    const timer = setTimeout(fn, Math.min(Math.ceil(ms), 2 ** 31 - 1));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  }
}
