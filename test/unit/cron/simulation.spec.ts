import { describe, expect, it } from '@jest/globals';
import { defineCron } from '../../../lib/cron/job-definition.js';
import type { SingletonCronOptions } from '../../../lib/cron/singleton-options.js';
import { Fleet, type ReplicaConditions } from './fleet.js';

const HOUR_MS = 3_600_000;
const INSTANTS = 1000;
const SECOND = 1000;

const everySecond = (options: Partial<SingletonCronOptions> = {}) =>
  defineCron('@SingletonCron', '* * * * * *', { name: 'job', ttl: '900ms', timeZone: 'UTC', ...options } as SingletonCronOptions);

/** The full seconds from `from` on. */
const seconds = (from: number, count = INSTANTS): number[] =>
  Array.from({ length: count }, (_, i) => Math.ceil(from / SECOND) * SECOND + i * SECOND);

/** What the fleet has to show for each of these instants: exactly one decision, a grant or a count as missed. */
function decisions(fleet: Fleet, instants: readonly number[]): { granted: number; missed: number; twice: number; forgotten: number } {
  const seen = { granted: 0, missed: 0, twice: 0, forgotten: 0 };
  for (const instant of instants) {
    const [grants, missed] = [fleet.grants.get(instant)?.size ?? 0, fleet.missed.get(instant) ?? 0];
    seen.granted += Math.min(1, grants);
    seen.missed += Math.min(1, missed);
    if (grants + missed > 1) seen.twice++;
    if (grants + missed === 0) seen.forgotten++;
  }
  return seen;
}

const CLOSE = [0, 5000, -5000];
const APART = [HOUR_MS, 0, -HOUR_MS, 5000, -5000];
const AHEAD = [HOUR_MS, HOUR_MS + 20, HOUR_MS - 300];
/** Long enough for a busy machine; a quiet one takes a second or two for each. */
const PATIENCE_MS = 120_000;

describe('1,000 instants', () => {
  it.each([
    ['1 ms', 'clocks ±5 s', 1, CLOSE],
    ['100 ms', 'clocks ±5 s', 100, CLOSE],
    ['990 ms', 'clocks ±5 s', 990, CLOSE],
    ['1 ms', 'clocks ±1 h', 1, APART],
    ['990 ms', 'clocks ±1 h', 990, APART],
    ['100 ms', 'a whole fleet an hour ahead', 100, AHEAD],
  ])(
    'a job of %s, %s: each runs once, in order, never two at once',
    async (_, __, durationMs, skews) => {
      const fleet = new Fleet(everySecond(), { durationMs: () => durationMs });
      for (const skewMs of skews) fleet.add({ skewMs });
      const expected = seconds(fleet.clock.wall());
      await fleet.advance(INSTANTS * SECOND + 500);
      // Compared as texts: a difference of lists so long takes minutes to print.
      expect(fleet.ran.join()).toBe(expected.join());
      expect(fleet.mostAtWork).toBe(1);
      expect(Math.max(...fleet.runs.map(({ began, instant }) => began - instant))).toBeLessThan(100);
    },
    PATIENCE_MS,
  );

  it.each([
    ['clocks ±5 s', CLOSE],
    ['clocks ±1 h', APART],
  ])(
    'a job of 2.5 s, %s: never two at once, and every instant that it costs is counted once',
    async (_, skews) => {
      const fleet = new Fleet(everySecond(), { durationMs: () => 2500 });
      for (const skewMs of skews) fleet.add({ skewMs });
      const expected = seconds(fleet.clock.wall());
      await fleet.advance(INSTANTS * SECOND + 500);
      expect(fleet.mostAtWork).toBe(1);
      expect(decisions(fleet, expected)).toEqual({ granted: 334, missed: 666, twice: 0, forgotten: 0 });
      expect(fleet.of('instant-missed')).toHaveLength(666);
    },
    PATIENCE_MS,
  );

  it.each([1])(
    'slow and lossy wires, drifting clocks, late timers: each is decided once (seed %i)',
    async (seed) => {
      const fleet = new Fleet(everySecond(), { seed, durationMs: (random) => 1 + random() * 300 });
      const conditions: ReplicaConditions = { delayMs: 20, loss: 0.005, lateMs: 15 };
      [0, 5000, -HOUR_MS, 250].forEach((skewMs, i) => fleet.add({ ...conditions, skewMs, drift: (i - 1) * 0.0005 }));
      await fleet.advance(2000);
      const expected = seconds(fleet.clock.wall());
      await fleet.advance(INSTANTS * SECOND);
      expect(fleet.mostAtWork).toBe(1);
      const { twice, forgotten, granted, missed } = decisions(fleet, expected.slice(0, -1));
      expect({ twice, forgotten }).toEqual({ twice: 0, forgotten: 0 });
      // A lost answer keeps the lease for one ttl, and that may cost the next instant.
      expect(granted).toBeGreaterThan(950);
      expect(granted + missed).toBe(INSTANTS - 1);
      expect([...fleet.grants.values()].filter((holders) => holders.size !== 1)).toEqual([]);
    },
    PATIENCE_MS,
  );

  it.each([
    ['skip', 1],
    ['rerun', 2],
  ] as const)(
    'crashes at random points, onCrash: %s (seed %i)',
    async (onCrash, seed) => {
      const job = everySecond({ onCrash, ttl: '400ms' });
      const fleet = new Fleet(job, { seed, durationMs: (random) => 1 + random() * 500 });
      for (const skewMs of [0, 5000, -5000]) fleet.add({ skewMs, delayMs: 5 });
      const expected = seconds(fleet.clock.wall());
      for (let i = 0; i < INSTANTS; i++) {
        await fleet.advance(fleet.random() * SECOND);
        if (fleet.random() < 0.08) {
          const alive = fleet.replicas.filter(({ clock }) => !clock.dead);
          const atWork = alive.find(({ name }) => fleet.runs.some((run) => run.replica === name && run.ended === undefined));
          (atWork ?? alive[0])?.kill();
          fleet.add({ skewMs: (fleet.random() - 0.5) * 2 * HOUR_MS, delayMs: 5 });
        }
        await fleet.advance(Math.max(0, (expected[i] as number) + 900 - fleet.clock.wall()));
      }
      expect(fleet.mostAtWork).toBe(1);
      const crashed = new Set(fleet.runs.filter(({ ended }) => Number.isNaN(ended)).map(({ instant }) => instant));
      const { twice, forgotten } = decisions(fleet, expected);
      expect(forgotten).toBe(0);
      expect(crashed.size).toBeGreaterThan(20);
      if (onCrash === 'skip') expect(twice).toBe(0);
      for (const [instant, holders] of fleet.grants) {
        // A further grant only where a run crashed, or died before its body began.
        const bodies = fleet.runs.filter((run) => run.instant === instant);
        if (holders.size > 1)
          expect(bodies.filter(({ ended }) => Number.isNaN(ended)).length + holders.size - bodies.length).toBeGreaterThan(0);
        expect(bodies.filter(({ ended }) => !Number.isNaN(ended)).length).toBeLessThanOrEqual(1);
      }
      const tokens = fleet.runs.map(({ token }) => token);
      expect(tokens.join()).toBe([...new Set(tokens)].sort((a, b) => a - b).join());
      const ok = expected.filter((instant) => fleet.runs.some((run) => run.instant === instant && !Number.isNaN(run.ended)));
      if (onCrash === 'rerun') expect(ok.length).toBeGreaterThan(INSTANTS - crashed.size);
    },
    PATIENCE_MS,
  );
});
