import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { intervalSchedule } from '../../../../lib/cron/instant/interval-schedule.js';
import { refusal } from './support.js';

describe('intervalSchedule', () => {
  it('has an instant at each multiple of the interval since the epoch', () => {
    const schedule = intervalSchedule(30_000);
    expect([0, 1, 29_999, 30_000, 30_000.5].map((ms) => schedule.newestNotAfter(ms))).toEqual([0, 0, 0, 30_000, 30_000]);
    expect([0, 1, 29_999, 29_999.5, 30_000].map((ms) => schedule.nextAfter(ms))).toEqual([30_000, 30_000, 30_000, 30_000, 60_000]);
    expect(schedule.description).toBe('every 30000 ms');
    expect([schedule.shortestGapMs, schedule.longestGapMs()]).toEqual([30_000, 30_000]);
  });

  it('gives the same instants to replicas that ask at different times', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e9 }),
        fc.integer({ min: 0, max: 4e12 }),
        fc.integer({ min: 0, max: 1e9 }),
        (every, ms, late) => {
          const schedule = intervalSchedule(every);
          const next = schedule.nextAfter(ms) as number;
          expect(next % every).toBe(0);
          expect(next).toBeGreaterThan(ms);
          expect(next - ms).toBeLessThanOrEqual(every);
          expect(schedule.newestNotAfter(next)).toBe(next);
          expect(schedule.newestNotAfter(next + (late % every))).toBe(next);
        },
      ),
    );
  });

  it.each([0, -1, 1.5, NaN, Infinity, 2 ** 53, '1000' as unknown as number])('refuses %s', (every) => {
    expect(refusal(() => intervalSchedule(every))).toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option: 'every' });
  });
});
