import { describe, expect, it } from '@jest/globals';
import { CronTime } from 'cron';
import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { cronSchedule } from '../../../../lib/cron/instant/cron-schedule.js';
import { at, backwards, forwards, iso } from './support.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A zone and a time near a change of its clocks. */
const CHANGES: readonly (readonly [zone: string, change: string])[] = [
  ['Europe/Berlin', '2026-03-29T01:00'],
  ['Europe/Berlin', '2026-10-25T01:00'],
  ['America/New_York', '2026-03-08T07:00'],
  ['America/New_York', '2026-11-01T06:00'],
  ['Australia/Lord_Howe', '2026-04-04T15:00'],
  ['Australia/Lord_Howe', '2026-10-03T15:30'],
  ['Africa/Cairo', '2026-04-23T22:00'],
  ['Africa/Cairo', '2026-10-29T21:00'],
  ['Africa/Casablanca', '2026-02-15T02:00'],
  ['Antarctica/Troll', '2026-03-29T01:00'],
  ['Antarctica/Troll', '2026-10-25T01:00'],
  ['America/Sao_Paulo', '2018-11-04T03:00'],
  ['Antarctica/Casey', '2020-03-07T16:00'],
  ['Pacific/Apia', '2011-12-30T10:00'],
  ['Asia/Kolkata', '2026-06-01T00:00'],
];

/** A local time is written as if it was UTC. */
function fieldsOf(local: number): number[] {
  const date = new Date(local);
  return [date.getUTCSeconds(), date.getUTCMinutes(), date.getUTCHours(), date.getUTCDate(), date.getUTCMonth() + 1, date.getUTCDay()];
}

/** Cron's reading of the fields. */
function matcherOf(expression: string): (local: number) => boolean {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = new CronTime(expression) as unknown as Record<string, object>;
  const sets = [second, minute, hour, dayOfMonth, month, dayOfWeek].map((set) => new Set(Object.keys(set as object).map(Number)));
  const either = (sets[3] as Set<number>).size < 31 && (sets[5] as Set<number>).size < 7;
  return (local) => {
    const [s, m, h, d, mo, w] = fieldsOf(local).map((value, index) => (sets[index] as Set<number>).has(value));
    return Boolean(s && m && h && mo && (either ? d || w : d && w));
  };
}

const offsets = new Map<string, number>();

/** Luxon's, kept for each minute: clocks change on whole minutes. */
function offsetAt(zone: string, ms: number): number {
  const key = `${zone} ${String(Math.floor(ms / MINUTE))}`;
  const offset = offsets.get(key) ?? IANAZone.create(zone).offset(ms) * MINUTE;
  offsets.set(key, offset);
  return offset;
}

/** Looks at every minute (or second, as `grain` says) in turn, with luxon's knowledge of the zone. */
function oracle(expression: string, rhythm: boolean, zone: string, from: number, to: number, grain: number): number[] {
  const matches = matcherOf(expression);
  const localAt = (ms: number): number => ms + offsetAt(zone, ms);
  const seen = new Set<number>();
  const due: number[] = [];
  // No clock is put back by more than three hours.
  const start = from - 4 * HOUR;
  let before = localAt(start - grain);
  for (let ms = start; ms <= to; ms += grain) {
    const local = localAt(ms);
    const step = local - before - grain;
    let isDue = matches(local) && (rhythm || !seen.has(local));
    for (let lost = before + grain; lost < local; lost += grain) isDue ||= matches(lost) && !(rhythm && matches(lost + step));
    seen.add(local);
    before = local;
    if (isDue && ms >= from) due.push(ms);
  }
  return due;
}

const change = fc.constantFrom(...CHANGES);
const days = fc.constantFrom('* * *', '* * *', '* * 0,6', '*/2 * 1', '29,30,31 * *', '24-31 3,10 *', '1-10 * 1-5');
/** Expression, and whether it is hourly or finer. */
const expression = fc
  .oneof(
    fc.tuple(fc.constantFrom('0', '30', '15,45', '*/20', '7', '59', '0,30'), fc.constantFrom('*', '*/1', '0-23'), days, fc.constant(true)),
    fc.tuple(fc.constantFrom('*', '*/30', '0/10', '5-50/15'), fc.constantFrom('2', '1-3', '*/2', '0,23'), days, fc.constant(true)),
    fc.tuple(
      fc.constantFrom('0', '30', '15,45', '7', '59', '0,30', '*/60'),
      fc.constantFrom('0', '2', '1-3', '*/2', '0,23', '1,2', '0-22'),
      days,
      fc.constant(false),
    ),
  )
  .map(([minutes, hours, rest, rhythm]) => ({ text: `${minutes} ${hours} ${rest}`, rhythm }));

describe('around every change of the clocks', () => {
  it('no instant is invented or lost: each minute of the local time tells', () => {
    fc.assert(
      fc.property(change, expression, ([zone, iso8601], { text, rhythm }) => {
        const [from, to] = [at(iso8601) - 5 * HOUR, at(iso8601) + 27 * HOUR];
        const expected = oracle(text, rhythm, zone, from, to, MINUTE).map(iso);
        const schedule = cronSchedule(text, { timeZone: zone });
        expect(forwards(schedule, from, to).map(iso)).toEqual(expected);
        expect(backwards(schedule, from, to).map(iso)).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  it('nor with seconds: each second of two hours tells', () => {
    fc.assert(
      fc.property(change, expression, fc.constantFrom('30', '*/20', '5,59'), ([zone, iso8601], { text, rhythm }, seconds) => {
        const [from, to] = [at(iso8601) - 0.5 * HOUR, at(iso8601) + 1.5 * HOUR];
        const expected = oracle(`${seconds} ${text}`, rhythm, zone, from, to, 1000).map(iso);
        const schedule = cronSchedule(`${seconds} ${text}`, { timeZone: zone });
        expect(forwards(schedule, from, to).map(iso)).toEqual(expected);
        expect(backwards(schedule, from, to).map(iso)).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });

  const moment = fc.tuple(change, fc.integer({ min: -30 * HOUR, max: 30 * HOUR }), expression, fc.constantFrom('0', '*/13', '5,59'));

  it('the newest instant at an instant is that instant, and nothing lies between it and the next', () => {
    fc.assert(
      fc.property(moment, ([[zone, iso8601], distance, { text }, seconds]) => {
        const schedule = cronSchedule(`${seconds} ${text}`, { timeZone: zone });
        const ms = at(iso8601) + distance;
        const next = schedule.nextAfter(ms) as number;
        const newest = schedule.newestNotAfter(ms) as number;
        expect(next).toBeGreaterThan(ms);
        expect(newest).toBeLessThanOrEqual(ms);
        expect(schedule.newestNotAfter(next)).toBe(next);
        expect(schedule.newestNotAfter(next - 1)).toBe(newest);
        expect(schedule.nextAfter(newest)).toBe(next);
        expect(schedule.nextAfter(next - 1)).toBe(next);
      }),
      { numRuns: 200 },
    );
  });

  it('what a replica answers does not depend on when it started or what it was asked before', () => {
    fc.assert(
      fc.property(moment, fc.array(fc.integer({ min: -400 * 24 * HOUR, max: 400 * 24 * HOUR }), { maxLength: 5 }), (where, earlier) => {
        const [[zone, iso8601], distance, { text }, seconds] = where;
        const ms = at(iso8601) + distance;
        const [fresh, used] = [0, 1].map(() => cronSchedule(`${seconds} ${text}`, { timeZone: zone })) as [
          ReturnType<typeof cronSchedule>,
          ReturnType<typeof cronSchedule>,
        ];
        for (const other of earlier) used.nextAfter(ms + other);
        expect(used.nextAfter(ms)).toBe(fresh.nextAfter(ms));
        expect(used.newestNotAfter(ms)).toBe(fresh.newestNotAfter(ms));
      }),
    );
  });

  it('two instants never lie further apart than longestGapMs', () => {
    fc.assert(
      fc.property(moment, ([[zone, iso8601], distance, { text }]) => {
        const schedule = cronSchedule(text, { timeZone: zone });
        const ms = at(iso8601) + distance;
        const gap = (schedule.nextAfter(ms) as number) - (schedule.newestNotAfter(ms) as number);
        expect(gap).toBeLessThanOrEqual(schedule.longestGapMs());
        expect(gap).toBeLessThanOrEqual(schedule.longestGapMs(ms - 32 * 24 * HOUR));
      }),
    );
  });
});
