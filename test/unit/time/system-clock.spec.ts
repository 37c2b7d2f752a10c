import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SystemClock } from '../../../lib/time/system-clock.js';

const LONGEST = 2 ** 31 - 1;
const MONTH = 30 * 86_400_000;

describe('SystemClock', () => {
  it('tells the time of the machine', () => {
    const clock = new SystemClock();
    const before = { wall: Date.now(), monotonic: performance.now() };
    expect(clock.wall()).toBeGreaterThanOrEqual(before.wall);
    expect(clock.wall()).toBeLessThan(before.wall + 5000);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(before.monotonic);
    expect(clock.monotonic()).toBeLessThan(before.monotonic + 5000);
  });

  it('tells on Linux how long the machine was suspended: nothing is added while it runs', async () => {
    const clock = new SystemClock();
    // The highest of many: a pause between the two clocks it reads makes a value too low.
    const read = () =>
      Array.from({ length: 50 }, () => clock.suspended()).reduce((a, b) => (a === undefined || b === undefined ? a : Math.max(a, b)));
    const before = read();
    await new Promise((resolve) => clock.setTimer(() => resolve(undefined), 100));
    const after = read();
    if (process.platform === 'linux') expect(Math.abs((after as number) - (before as number))).toBeLessThan(60);
    else expect([before, after]).toEqual([undefined, undefined]);
  });

  it('does not take a pause between its two readings for a suspend', () => {
    const clock = new SystemClock();
    const before = clock.suspended() ?? 0;
    const now = performance.now.bind(performance);
    const spy = jest.spyOn(performance, 'now').mockImplementationOnce(() => {
      const read = now();
      while (now() - read < 300);
      return read;
    });
    try {
      expect((clock.suspended() ?? 0) - before).toBeLessThan(150);
    } finally {
      spy.mockRestore();
    }
  });

  it('does not keep the process alive', () => {
    const spy = jest.spyOn(globalThis, 'setTimeout');
    try {
      const timer = new SystemClock().setTimer(() => undefined, 60_000);
      const handle = spy.mock.results[0]?.value as NodeJS.Timeout;
      expect(handle.hasRef()).toBe(false);
      timer.cancel();
    } finally {
      spy.mockRestore();
    }
  });

  it('never fires a timer before its time, fractions included', async () => {
    const clock = new SystemClock();
    const started = clock.monotonic();
    const took = await new Promise<number>((resolve) => clock.setTimer(() => resolve(clock.monotonic() - started), 20.9));
    // libuv counts whole milliseconds from a loop time that is up to one old.
    expect(took).toBeGreaterThanOrEqual(20.9 - 1);
  });

  describe('on fake timers', () => {
    beforeEach(() => {
      jest.useFakeTimers();
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it('fires once, after the time', () => {
      const fn = jest.fn();
      new SystemClock().setTimer(fn, 1000);
      jest.advanceTimersByTime(999);
      expect(fn).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      jest.advanceTimersByTime(10_000);
      expect(fn).toHaveBeenCalledTimes(1);
    });

    it.each([LONGEST, LONGEST + 1, MONTH, 3 * LONGEST + 17])(
      'waits %d ms, though Node fires at once what is longer than 2^31 - 1',
      (ms) => {
        const fn = jest.fn();
        new SystemClock().setTimer(fn, ms);
        jest.advanceTimersByTime(ms - 1);
        expect(fn).not.toHaveBeenCalled();
        jest.advanceTimersByTime(1);
        expect(fn).toHaveBeenCalledTimes(1);
        expect(jest.getTimerCount()).toBe(0);
      },
    );

    it('can be cancelled in any link of the chain, and after it has fired', () => {
      const fn = jest.fn();
      const timer = new SystemClock().setTimer(fn, 2 * LONGEST);
      jest.advanceTimersByTime(LONGEST + 5);
      timer.cancel();
      expect(jest.getTimerCount()).toBe(0);
      const short = new SystemClock().setTimer(fn, 5);
      jest.advanceTimersByTime(5);
      short.cancel();
      short.cancel();
      expect(fn).toHaveBeenCalledTimes(1);
    });

    it('rounds a fraction up', () => {
      const fn = jest.fn();
      new SystemClock().setTimer(fn, 10.2);
      jest.advanceTimersByTime(10);
      expect(fn).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      expect(fn).toHaveBeenCalledTimes(1);
    });

    it('takes a time that is already over as now', () => {
      const fn = jest.fn();
      new SystemClock().setTimer(fn, -5);
      new SystemClock().setTimer(fn, 0);
      jest.advanceTimersByTime(1);
      expect(fn).toHaveBeenCalledTimes(2);
    });
  });
});
