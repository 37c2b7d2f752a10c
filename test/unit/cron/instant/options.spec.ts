import { describe, expect, it } from '@jest/globals';
import { CronTime } from 'cron';
import fc from 'fast-check';
import { parseCronFields } from '../../../../lib/cron/instant/cron-fields.js';
import { cronSchedule } from '../../../../lib/cron/instant/cron-schedule.js';
import { at, forwards, iso, refusal } from './support.js';

const UTC = { timeZone: 'UTC' };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('reading an expression', () => {
  const item = (min: number, max: number): fc.Arbitrary<string> =>
    fc
      .tuple(
        fc.constantFrom('*', '*/', 'n', 'n/', 'n-n', 'n-n/'),
        fc.integer({ min, max }),
        fc.integer({ min, max }),
        fc.integer({ min: 1, max: 70 }),
      )
      .map(
        ([form, a, b, step]) =>
          form.replace('n-n', `${String(Math.min(a, b))}-${String(Math.max(a, b))}`).replace('n', String(a)) +
          (form.endsWith('/') ? String(step) : ''),
      );
  const field = (min: number, max: number): fc.Arbitrary<string> =>
    fc.array(item(min, max), { minLength: 1, maxLength: 4 }).map((items) => items.join(','));

  it('gives the values that cron 4.4 gives', () => {
    const expression = fc
      .tuple(field(0, 59), field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
      .map((fields) => fields.join(' '));
    fc.assert(
      fc.property(expression, (text) => {
        const theirs = new CronTime(text) as unknown as Record<string, object>;
        const ours = parseCronFields(text);
        for (const name of ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const) {
          expect(ours[name].values).toEqual(Object.keys(theirs[name] as object).map(Number));
        }
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['0 12 * * MON-FRI', '0 0 12 * * 1-5'],
    ['0 0 ? * ?', '0 0 * * *'],
    ['  0   0 * jan,FEB *  ', '0 0 * 1,2 *'],
    ['@daily', '0 0 0 * * *'],
    ['@DAILY', '0 0 * * *'],
    ['0 0 * * 7', '0 0 * * 0'],
    ['0 0-23/1 * * *', '0 * * * *'],
    ['3,2,1 4 * * *', '1-3 4 * * *'],
    ['*/60 2 * * *', '0 2 * * *'],
  ])('"%s" is described as "%s" is, so that replicas agree', (one, other) => {
    expect(cronSchedule(one, UTC).description).toBe(cronSchedule(other, UTC).description);
  });

  it.each([
    ['0 0 * * *', '0 1 * * *'],
    ['*/30 2 * * *', '0,30 2 * * *'],
    ['0 0 1 * *', '0 0 * * 1'],
  ])('"%s" and "%s" are not the same', (one, other) => {
    expect(cronSchedule(one, UTC).description).not.toBe(cronSchedule(other, UTC).description);
  });

  it.each([
    '',
    '*',
    '* * * *',
    '* * * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    '1.5 * * * *',
    '-1 * * * *',
    '1,,2 * * * *',
    'a * * * *',
    '* * * foo *',
    '0 0 * * monday',
    '@reboot',
    'every day',
    'constructor',
    '? * * * *',
    '*-5 * * * *',
    '0 0 L * *',
    '0 0 * * 5L',
    '0 0 * * 1#2',
    '0 0 15W * *',
    'H * * * *',
    '1/2/3 * * * *',
    `0 0 ${'1,'.repeat(600)}1 * *`,
  ])('refuses "%s", naming option and value', (expression) => {
    const { code, option, message } = refusal(() => cronSchedule(expression, UTC));
    expect({ code, option }).toEqual({ code: 'LEASE_OPTIONS_INVALID', option: 'expression' });
    expect(message).toContain(`"expression" ("${expression.slice(0, 40)}`);
  });

  it.each(['0 0 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 *'])('refuses "%s", which no calendar has', (expression) => {
    expect(refusal(() => cronSchedule(expression, UTC)).message).toMatch(/never run.*correct the day or the month/);
  });

  it('says which part cannot be read and what can be written', () => {
    const { message } = refusal(() => cronSchedule('0 25 * * *', UTC));
    expect(message).toMatch(/"25" is no value of the field hour.*ranges \(1-5\)/);
  });
});

describe('the zone', () => {
  it('is that of the process when none is given, and is recorded', () => {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    expect(cronSchedule('0 0 * * *').description).toBe(`0 0 0 * * * ${timeZone}`);
  });

  it.each([
    [120, 'UTC+02:00', '2026-06-01T10:00Z'],
    [-210, 'UTC-03:30', '2026-06-01T15:30Z'],
    [0, 'UTC+00:00', '2026-06-01T12:00Z'],
  ])('may be a fixed difference of %i minutes', (utcOffset, name, noon) => {
    const schedule = cronSchedule('0 12 * * *', { utcOffset });
    expect(schedule.description).toBe(`0 0 12 * * * ${name}`);
    expect(iso(schedule.nextAfter(at('2026-06-01T00:00')))).toBe(noon);
  });

  it.each(['Mars/Olympus', '', ' ', '+02:00', 'Europe/'])('refuses "%s"', (timeZone) => {
    const { code, option, message } = refusal(() => cronSchedule('0 0 * * *', { timeZone }));
    expect({ code, option }).toEqual({ code: 'LEASE_OPTIONS_INVALID', option: 'timeZone' });
    expect(message).toMatch(/"timeZone" \(".*"\).*Europe\/Berlin/);
  });

  it.each([1.5, NaN, 1440, '60' as unknown as number])('refuses an offset of %s', (utcOffset) => {
    expect(refusal(() => cronSchedule('0 0 * * *', { utcOffset }))).toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option: 'utcOffset' });
  });

  it('and an offset exclude each other', () => {
    const { option, message } = refusal(() => cronSchedule('0 0 * * *', { timeZone: 'Europe/Berlin', utcOffset: 60 }));
    expect(option).toBe('utcOffset');
    expect(message).toContain('leave out one of the two');
  });
});

describe('a Date', () => {
  const when = at('2026-12-24T18:00:00.123');
  const schedule = cronSchedule(new Date(when));

  it('is one single instant', () => {
    expect([schedule.nextAfter(when - 1), schedule.nextAfter(when)]).toEqual([when, undefined]);
    expect([schedule.newestNotAfter(when - 1), schedule.newestNotAfter(when)]).toEqual([undefined, when]);
    expect(forwards(schedule, 0, when + DAY)).toEqual([when]);
    expect(schedule.description).toBe('once at 2026-12-24T18:00:00.123Z');
    expect([schedule.shortestGapMs, schedule.longestGapMs()]).toEqual([Infinity, 0]);
  });

  it.each([[new Date(NaN)], [undefined], [42]])('that is %s is refused', (value) => {
    expect(refusal(() => cronSchedule(value as Date))).toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option: 'expression' });
  });
});

describe('gaps', () => {
  it.each([
    ['* * * * * *', 1000, 1000],
    ['*/25 * * * * *', 10_000, 25_000],
    ['*/40 * * * *', 20 * 60_000, 40 * 60_000],
    ['0 * * * *', HOUR, HOUR],
    ['30 2 * * *', DAY, DAY],
    ['0 9-17 * * 1-5', HOUR, 64 * HOUR],
    ['0 0 1 * *', 28 * DAY, 31 * DAY],
    ['0 0 29 2 *', 1461 * DAY, 2921 * DAY],
    ['0 0 1 1 *', 365 * DAY, 366 * DAY],
  ])('of %s are %i ms at the shortest and %i ms at the longest', (expression, shortest, longest) => {
    const schedule = cronSchedule(expression, UTC);
    expect(schedule.shortestGapMs).toBe(shortest);
    expect(schedule.longestGapMs()).toBe(longest + Math.min(3 * HOUR, longest));
  });

  it('from a given time on: four years from one leap day to the next', () => {
    expect(cronSchedule('0 0 29 2 *', UTC).longestGapMs(at('2026-01-01T00:00'))).toBe(1461 * DAY + 3 * HOUR);
  });
});
