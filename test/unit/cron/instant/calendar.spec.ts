import { describe, expect, it } from '@jest/globals';
import { CronExpression } from '@nestjs/schedule';
import { CronTime } from 'cron';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { civilOf, dayNumberOf, weekdayOf } from '../../../../lib/cron/instant/civil-day.js';
import { cronSchedule } from '../../../../lib/cron/instant/cron-schedule.js';
import { at, backwards, forwards, iso } from './support.js';

const UTC = { timeZone: 'UTC' };

describe('dates', () => {
  it('are those of Date, in any year', () => {
    fc.assert(
      fc.property(fc.integer({ min: -800_000, max: 2_900_000 }), (day) => {
        const date = new Date(day * 86_400_000);
        const civil = civilOf(day);
        expect(civil).toEqual({ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() });
        expect(dayNumberOf(civil.year, civil.month, civil.day)).toBe(day);
        expect(weekdayOf(day)).toBe(date.getUTCDay());
      }),
    );
  });
});

describe('days that are not in every month or year', () => {
  it.each([
    ['0 0 29 2 *', '2026-03-01T00:00', '2028-02-29T00:00Z'],
    ['0 0 29 2 *', '2096-02-29T00:00', '2104-02-29T00:00Z'],
    ['0 0 31 * *', '2026-01-31T00:00', '2026-03-31T00:00Z'],
    ['0 0 30 * *', '2026-01-30T00:00', '2026-03-30T00:00Z'],
    ['59 59 23 31 12 *', '2026-06-01T00:00', '2026-12-31T23:59:59Z'],
    ['0 0 1 1 *', '2026-12-31T23:59', '2027-01-01T00:00Z'],
    ['@yearly', '2026-01-01T00:00', '2027-01-01T00:00Z'],
    ['0 0 1 */3 *', '2026-11-11T00:00', '2027-01-01T00:00Z'],
    ['0 12 * * 7', '2026-12-02T00:00', '2026-12-06T12:00Z'],
    ['0 0 13 * FRI', '2026-12-12T00:00', '2026-12-13T00:00Z'],
    ['0 0 13 * FRI', '2026-12-13T00:00', '2026-12-18T00:00Z'],
    ['0 0 31 2 MON', '2026-01-01T00:00', '2026-02-02T00:00Z'],
  ])('%s after %s is %s, and that is found backwards', (expression, from, expected) => {
    const schedule = cronSchedule(expression, UTC);
    const next = schedule.nextAfter(at(from)) as number;
    expect(iso(next)).toBe(expected);
    expect(schedule.newestNotAfter(next)).toBe(next);
    expect(schedule.newestNotAfter((schedule.nextAfter(next) as number) - 1)).toBe(next);
  });

  it('asking for a leap day does not search through the days one by one', () => {
    const schedule = cronSchedule('0 0 29 2 *', { timeZone: 'Europe/Berlin' });
    schedule.nextAfter(at('2096-03-01T00:00'));
    const tries = Array.from({ length: 20 }, (_, i) => {
      const started = performance.now();
      schedule.nextAfter(at('2096-03-01T00:00') + i);
      return performance.now() - started;
    });
    // About 0.02 ms. The best of many, since the machine may be busy; a search by minutes would take a second.
    expect(Math.min(...tries)).toBeLessThan(5);
  });
});

describe('on days without a change of the clocks it is due when cron 4.4 says', () => {
  const expressions = [
    ...new Set(Object.values(CronExpression)),
    '*/7 * * * *',
    '5/20 3 * * *',
    '0 9-17/2 * * MON-FRI',
    '0 0 1,15 * WED',
    '0 0 */2 * 1',
    '0 0 * * 5-7',
    '0 0 * * 1/2',
    '1,1,1-3 * * * *',
    '*,5 0 * * *',
    '0 0 * JAN,dec sun',
    '*/100 4 * * *',
    '10-20/3,40-59/7 1 2 * * *',
    '@weekdays',
    '@weekends',
    '@monthly',
    '@weekly',
    '@hourly',
    '@minutely',
    '@secondly',
    '0 0 31 * *',
  ];

  it.each(expressions)('%s', (expression) => {
    for (const [zone, start] of [
      ['Asia/Kolkata', '2026-12-30T17:45:59'],
      ['Europe/Berlin', '2026-05-30T21:59:59'],
    ] as const) {
      const ours = cronSchedule(expression, { timeZone: zone });
      const theirs = new CronTime(expression, zone);
      for (let i = 0, ms = at(start); i < 3; i++) {
        const next = theirs.getNextDateFrom(DateTime.fromMillis(ms, { zone })).toMillis();
        // The clocks of Berlin change in between: not an ordinary stretch.
        if (zone === 'Europe/Berlin' && next > at('2026-10-01T00:00')) break;
        expect(iso(ours.nextAfter(ms))).toBe(iso(next));
        ms = next;
      }
    }
  });
});

describe('expressions with seconds', () => {
  it('name each second of the minute, in both directions', () => {
    const schedule = cronSchedule('*/20 * * * * *', UTC);
    const [from, to] = [at('2026-12-31T23:59:00'), at('2027-01-01T00:01:00')];
    expect(forwards(schedule, from, to)).toEqual([0, 20, 40, 60, 80, 100, 120].map((s) => from + s * 1000));
    expect(backwards(schedule, from, to)).toEqual(forwards(schedule, from, to));
  });

  it('a timer that fires a fraction of a millisecond early finds the instant before, one that fires late the due one', () => {
    const schedule = cronSchedule('* * * * * *', UTC);
    const due = at('2026-06-01T12:00:01');
    expect(schedule.newestNotAfter(due - 0.25)).toBe(due - 1000);
    expect(schedule.nextAfter(due - 0.25)).toBe(due);
    expect(schedule.newestNotAfter(due + 0.25)).toBe(due);
    expect(schedule.nextAfter(due + 0.25)).toBe(due + 1000);
    expect(schedule.newestNotAfter(due + 999)).toBe(due);
  });
});
