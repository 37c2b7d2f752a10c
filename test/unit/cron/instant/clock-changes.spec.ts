import { describe, expect, it } from '@jest/globals';
import { cronSchedule } from '../../../../lib/cron/instant/cron-schedule.js';
import { at, backwards, forwards, iso } from './support.js';

/** Instants of `expression` in a window, in UTC, after asking in both directions. */
function instants(expression: string, timeZone: string, from: string, to: string): string[] {
  const schedule = cronSchedule(expression, { timeZone });
  const found = forwards(schedule, at(from), at(to));
  expect(backwards(schedule, at(from), at(to))).toEqual(found);
  return found.map((ms) => iso(ms).slice(11, -1));
}

interface Window {
  readonly zone: string;
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly expected: Readonly<Record<string, string>>;
}

const WINDOWS: readonly Window[] = [
  {
    zone: 'Europe/Berlin',
    what: '2026-03-29, 02:00 becomes 03:00',
    from: '2026-03-29T00:00',
    to: '2026-03-29T02:30',
    expected: {
      '30 2 * * *': '01:00',
      '0 2 * * *': '01:00',
      '0 3 * * *': '01:00',
      '30 2,3 * * *': '01:00 01:30',
      '*/30 * * * *': '00:00 00:30 01:00 01:30 02:00 02:30',
      '0 * * * *': '00:00 01:00 02:00',
      '30 * * * *': '00:30 01:30 02:30',
      '0 */2 * * *': '01:00 02:00',
      '0 1-3 * * *': '00:00 01:00',
      '15,45 1,2 * * *': '00:15 00:45 01:00',
      '*/15 2 * * *': '01:00',
      '*/20 30 2 * * *': '01:00',
      '30 2 29 3 *': '01:00',
      '30 2 * * MON': '',
    },
  },
  {
    zone: 'Europe/Berlin',
    what: '2026-10-25, 03:00 becomes 02:00',
    from: '2026-10-24T23:30',
    to: '2026-10-25T02:30',
    expected: {
      '30 2 * * *': '00:30',
      '0 2 * * *': '00:00',
      '0 3 * * *': '02:00',
      '*/30 * * * *': '23:30 00:00 00:30 01:00 01:30 02:00 02:30',
      '0 * * * *': '00:00 01:00 02:00',
      '30 * * * *': '23:30 00:30 01:30 02:30',
      '0 */2 * * *': '00:00',
      '0 1-3 * * *': '00:00 02:00',
      '15,45 1,2 * * *': '23:45 00:15 00:45',
      '0,30 2 * * *': '00:00 00:30',
      '*/30 2 * * *': '00:00 00:30 01:00 01:30',
      '*/20 30 2 * * *': '00:30 00:30:20 00:30:40',
      '0 0-23/1 * * *': '00:00 01:00 02:00',
    },
  },
  {
    zone: 'America/New_York',
    what: '2026-03-08, 02:00 becomes 03:00',
    from: '2026-03-08T05:30',
    to: '2026-03-08T08:00',
    expected: {
      '30 2 * * *': '07:00',
      '30 1 * * *': '06:30',
      '*/30 * * * *': '05:30 06:00 06:30 07:00 07:30 08:00',
      '0 * * * *': '06:00 07:00 08:00',
    },
  },
  {
    zone: 'America/New_York',
    what: '2026-11-01, 02:00 becomes 01:00',
    from: '2026-11-01T04:30',
    to: '2026-11-01T07:30',
    expected: {
      '30 2 * * *': '07:30',
      '30 1 * * *': '05:30',
      '*/30 * * * *': '04:30 05:00 05:30 06:00 06:30 07:00 07:30',
      '0 * * * *': '05:00 06:00 07:00',
    },
  },
  {
    zone: 'Australia/Lord_Howe',
    what: '2026-04-05, 02:00 becomes 01:30',
    from: '2026-04-04T14:00',
    to: '2026-04-04T16:30',
    expected: {
      '30 2 * * *': '16:00',
      '30 1 * * *': '14:30',
      '45 1 * * *': '14:45',
      '*/30 * * * *': '14:00 14:30 15:00 15:30 16:00 16:30',
      '0 * * * *': '14:00 15:30 16:30',
      '45 * * * *': '14:45 15:15 16:15',
    },
  },
  {
    zone: 'Australia/Lord_Howe',
    what: '2026-10-04, 02:00 becomes 02:30',
    from: '2026-10-03T14:30',
    to: '2026-10-03T17:00',
    expected: {
      '30 2 * * *': '15:30',
      '15 2 * * *': '15:30',
      '*/30 * * * *': '14:30 15:00 15:30 16:00 16:30 17:00',
      '0 * * * *': '14:30 15:30 16:00 17:00',
    },
  },
  {
    zone: 'Asia/Kolkata',
    what: 'which never changes its clocks',
    from: '2026-03-28T20:30',
    to: '2026-03-28T22:30',
    expected: { '30 2 * * *': '21:00', '*/30 * * * *': '20:30 21:00 21:30 22:00 22:30', '0 * * * *': '20:30 21:30 22:30' },
  },
  {
    zone: 'Africa/Cairo',
    what: '2026-04-24, midnight becomes 01:00',
    from: '2026-04-23T21:00',
    to: '2026-04-24T00:00',
    expected: {
      '0 0 * * *': '22:00',
      '@daily': '22:00',
      '0 0 24 4 *': '22:00',
      '*/30 * * * *': '21:00 21:30 22:00 22:30 23:00 23:30 00:00',
    },
  },
  {
    zone: 'Africa/Cairo',
    what: '2026-10-30, midnight becomes 23:00 of the day before',
    from: '2026-10-29T19:59',
    to: '2026-10-29T22:30',
    expected: { '0 23 * * *': '20:00', '@daily': '22:00', '0 23 29 10 *': '20:00', '30 * * * *': '20:30 21:30 22:30' },
  },
  {
    zone: 'Africa/Casablanca',
    what: '2026, summer time is suspended for Ramadan from 15 February',
    from: '2026-02-15T00:30',
    to: '2026-02-15T03:30',
    expected: { '30 2 * * *': '01:30', '*/30 * * * *': '00:30 01:00 01:30 02:00 02:30 03:00 03:30' },
  },
  {
    zone: 'Africa/Casablanca',
    what: '2026, and back on 22 March',
    from: '2026-03-22T01:00',
    to: '2026-03-22T03:00',
    expected: { '30 2 * * *': '02:00', '*/30 * * * *': '01:00 01:30 02:00 02:30 03:00' },
  },
];

describe.each(WINDOWS)('$zone, $what', ({ zone, from, to, expected }) => {
  it.each(Object.entries(expected))('%s is due at %s UTC', (expression, times) => {
    expect(instants(expression, zone, from, to).join(' ')).toBe(times);
  });
});

describe('what other cron libraries did', () => {
  it('a half-hourly job is not silent for an hour when the clocks go back (node-cron#881)', () => {
    const schedule = cronSchedule('*/30 * * * *', { timeZone: 'Australia/Melbourne' });
    const found = forwards(schedule, at('2024-04-06T14:00'), at('2024-04-06T18:00'));
    expect(found.map((ms, index) => ms - (found[index - 1] ?? ms)).slice(1)).toEqual(Array(8).fill(1_800_000));
  });

  it('a daily job is neither left out when the clocks go forward nor run twice when they go back (node-cron#563)', () => {
    expect(instants('30 2 * * *', 'America/New_York', '2026-03-08T00:00', '2026-03-09T00:00')).toHaveLength(1);
    expect(instants('30 1 * * *', 'America/New_York', '2026-11-01T00:00', '2026-11-02T00:00')).toHaveLength(1);
  });

  it('the next time is later than the one asked about, all through a change, so that no caller spins (node-cron#509)', () => {
    for (const expression of ['*/30 * * * * *', '*/2 * * * *', '59 23 * * *']) {
      const schedule = cronSchedule(expression, { timeZone: 'Europe/Vienna' });
      for (let ms = at('2025-10-26T00:50'); ms < at('2025-10-26T02:10'); ms += 7_001) expect(schedule.nextAfter(ms)).toBeGreaterThan(ms);
    }
  });

  it('an every-second job has no hole of half a minute after the repeated hour (croner#343)', () => {
    const schedule = cronSchedule('* * * * * *', { timeZone: 'Europe/Vienna' });
    expect(forwards(schedule, at('2025-10-26T00:59:30'), at('2025-10-26T02:00:30'))).toHaveLength(3661);
  });

  it('the time of a gap is found backwards too, not that of the day before (cron-parser#378)', () => {
    const schedule = cronSchedule('0 2 * * *', { timeZone: 'America/New_York' });
    expect(iso(schedule.newestNotAfter(at('2020-03-08T07:01')))).toBe('2020-03-08T07:00Z');
  });

  it('no instant is invented two hours after the clocks went back (cron 4.4, 02:30 in New York)', () => {
    expect(instants('30 2 * * *', 'America/New_York', '2026-11-01T04:00', '2026-11-01T12:00')).toEqual(['07:30']);
  });
});

describe('Pacific/Apia, where there was no 30 December 2011', () => {
  const [from, to] = ['2011-12-29T00:00', '2012-01-01T00:00'];

  it('the noon of the lost day runs as the next day begins', () => {
    const schedule = cronSchedule('0 12 * * *', { timeZone: 'Pacific/Apia' });
    expect(forwards(schedule, at(from), at(to)).map(iso)).toEqual([
      '2011-12-29T22:00Z',
      '2011-12-30T10:00Z',
      '2011-12-30T22:00Z',
      '2011-12-31T22:00Z',
    ]);
    expect(backwards(schedule, at(from), at(to))).toEqual(forwards(schedule, at(from), at(to)));
  });

  it('a Friday job whose Friday is lost runs on the Saturday', () => {
    expect(iso(cronSchedule('0 9 * * FRI', { timeZone: 'Pacific/Apia' }).nextAfter(at('2011-12-29T00:00')))).toBe('2011-12-30T10:00Z');
  });

  it('an hourly job keeps its hour', () => {
    expect(instants('0 * * * *', 'Pacific/Apia', '2011-12-30T08:00', '2011-12-30T12:00')).toEqual([
      '08:00',
      '09:00',
      '10:00',
      '11:00',
      '12:00',
    ]);
  });
});
