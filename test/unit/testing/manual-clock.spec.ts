import { describe, expect, it, jest } from '@jest/globals';
import { ManualClock } from '../../../lib/testing/manual-clock.js';

const read = (clock: ManualClock) => ({ monotonic: clock.monotonic(), wall: clock.wall(), suspended: clock.suspended() });

describe('ManualClock', () => {
  it('stands still until it is moved', async () => {
    const clock = new ManualClock({ wall: 5000 });
    const before = read(clock);
    await clock.settle();
    expect(read(clock)).toEqual(before);
    expect(before).toEqual({ monotonic: 0, wall: 5000, suspended: 0 });
  });

  it('starts at a plausible date', () => {
    expect(new Date(new ManualClock().wall()).toISOString()).toBe('2026-01-01T00:00:00.000Z');
  });

  it('advances both clocks', () => {
    const clock = new ManualClock({ wall: 5000 });
    clock.advance(70);
    expect(read(clock)).toEqual({ monotonic: 70, wall: 5070, suspended: 0 });
  });

  it('suspends: only the wall clock goes on, and no timer fires', () => {
    const clock = new ManualClock({ wall: 5000 });
    const fn = jest.fn();
    clock.setTimer(fn, 10);
    clock.suspend(3_600_000);
    expect(read(clock)).toEqual({ monotonic: 0, wall: 3_605_000, suspended: 3_600_000 });
    expect(fn).not.toHaveBeenCalled();
    clock.advance(10);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('steps the wall clock in either direction, and nothing else', () => {
    const clock = new ManualClock({ wall: 5000 });
    const fn = jest.fn();
    clock.setTimer(fn, 10);
    clock.stepWall(-4000);
    expect(read(clock)).toEqual({ monotonic: 0, wall: 1000, suspended: 0 });
    clock.stepWall(9000);
    expect(read(clock)).toEqual({ monotonic: 0, wall: 10_000, suspended: 0 });
    expect(fn).not.toHaveBeenCalled();
  });

  it('can keep to itself how long it was suspended', () => {
    const clock = new ManualClock({ tellsSuspended: false });
    clock.suspend(1000);
    expect(clock.suspended()).toBeUndefined();
  });

  it.each([-1, NaN, Infinity])('refuses to go by %d', async (ms) => {
    const clock = new ManualClock();
    expect(() => clock.advance(ms)).toThrow(RangeError);
    expect(() => clock.suspend(ms)).toThrow(RangeError);
    await expect(clock.advanceAsync(ms)).rejects.toThrow(RangeError);
    if (!Number.isFinite(ms)) expect(() => clock.stepWall(ms)).toThrow(RangeError);
    expect(clock.monotonic()).toBe(0);
  });

  describe('timers', () => {
    it('fire in the order of their times, each at its own time; of two due together the first set first', () => {
      const clock = new ManualClock();
      const fired: [string, number][] = [];
      const set = (name: string, ms: number) => clock.setTimer(() => fired.push([name, clock.monotonic()]), ms);
      set('c', 30);
      set('a', 10);
      set('b1', 20);
      set('b2', 20);
      set('late', 31);
      clock.advance(30);
      expect(fired).toEqual([
        ['a', 10],
        ['b1', 20],
        ['b2', 20],
        ['c', 30],
      ]);
      expect(clock.pendingTimers).toBe(1);
    });

    it('see the wall clock at their time too', () => {
      const clock = new ManualClock({ wall: 1000 });
      const seen: number[] = [];
      clock.setTimer(() => seen.push(clock.wall()), 25);
      clock.advance(100);
      expect(seen).toEqual([1025]);
    });

    it('may set timers that fire in the same advance', () => {
      const clock = new ManualClock();
      const at: number[] = [];
      const again = () => {
        at.push(clock.monotonic());
        clock.setTimer(again, 10);
      };
      clock.setTimer(again, 10);
      clock.advance(35);
      expect(at).toEqual([10, 20, 30]);
    });

    it('may cancel one that is due at the same time', () => {
      const clock = new ManualClock();
      const fn = jest.fn();
      clock.setTimer(() => second.cancel(), 10);
      const second = clock.setTimer(fn, 10);
      clock.advance(10);
      expect(fn).not.toHaveBeenCalled();
      expect(clock.pendingTimers).toBe(0);
    });

    it('can be cancelled twice and after they fired', () => {
      const clock = new ManualClock();
      const fn = jest.fn();
      const timer = clock.setTimer(fn, 10);
      clock.advance(10);
      timer.cancel();
      timer.cancel();
      clock.advance(10);
      expect(fn).toHaveBeenCalledTimes(1);
    });

    it.each([0, -5, NaN, 0.2])('of %d ms fire after 1 ms, as in Node: one that sets itself again cannot stop the time', (ms) => {
      const clock = new ManualClock();
      const fn = jest.fn(() => void clock.setTimer(fn, ms));
      clock.setTimer(fn, ms);
      clock.advance(0);
      expect(fn).not.toHaveBeenCalled();
      clock.advance(5);
      expect(fn).toHaveBeenCalledTimes(5);
    });

    it('of any length work', () => {
      const clock = new ManualClock();
      const fn = jest.fn();
      clock.setTimer(fn, 2 ** 40);
      clock.advance(2 ** 40 - 1);
      expect(fn).not.toHaveBeenCalled();
      clock.advance(1);
      expect(fn).toHaveBeenCalledTimes(1);
    });

    it('that throw are heard at their time, and the others are still there', () => {
      const clock = new ManualClock();
      const fn = jest.fn();
      clock.setTimer(() => {
        throw new Error('from a timer');
      }, 10);
      clock.setTimer(fn, 20);
      expect(() => clock.advance(30)).toThrow('from a timer');
      expect(clock.monotonic()).toBe(10);
      clock.advance(20);
      expect(fn).toHaveBeenCalledTimes(1);
    });

    it('may advance the clock themselves: time never goes back', () => {
      const clock = new ManualClock({ wall: 0 });
      clock.setTimer(() => clock.advance(100), 10);
      clock.advance(20);
      expect(read(clock)).toMatchObject({ monotonic: 110, wall: 110 });
    });
  });

  describe('advanceAsync', () => {
    it('lets code that awaits between its timers run at the right times', async () => {
      const clock = new ManualClock();
      const at: number[] = [];
      const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms));
      const work = async () => {
        for (let i = 0; i < 3; i++) {
          await sleep(10);
          for (let hop = 0; hop < 20; hop++) await Promise.resolve();
          at.push(clock.monotonic());
        }
      };
      const done = work();
      await clock.advanceAsync(35);
      await done;
      expect(at).toEqual([10, 20, 30]);
      expect(clock.monotonic()).toBe(35);
    });

    it('runs what was started before it, and what the last timer started', async () => {
      const clock = new ManualClock();
      const fn = jest.fn();
      void Promise.resolve().then(() => clock.setTimer(() => void Promise.resolve().then(fn), 5));
      await clock.advanceAsync(5);
      expect(fn).toHaveBeenCalledTimes(1);
    });

    it("is not stopped by a test runner's fake timers", async () => {
      jest.useFakeTimers();
      try {
        const clock = new ManualClock();
        const fn = jest.fn();
        clock.setTimer(fn, 5);
        await clock.advanceAsync(5);
        expect(fn).toHaveBeenCalledTimes(1);
      } finally {
        jest.useRealTimers();
      }
    });
  });
});
