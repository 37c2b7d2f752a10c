import { describe, expect, it, jest } from '@jest/globals';
import { Harness, type Outcome } from './harness.js';
import {
  longestGaps,
  lostOrStale,
  notServed,
  overlaps,
  passedUnheld,
  ranNever,
  ranTwice,
  staleAccepted,
  tokensNotRising,
  unfenced,
} from './judges.js';
import { showSchedule, type Fault } from './schedule.js';
import { STAGES, type Topology } from './stages.js';

/** `npm run chaos -- --seed N --minutes M --topology T [--broken]` sets these; without them: a few seconds with a fixed seed. */
const { CHAOS_SEED = '20', CHAOS_MINUTES: minutes, CHAOS_TOPOLOGY = 'primary', CHAOS_BROKEN: broken } = process.env;
const seed = Number(CHAOS_SEED);
const topology = CHAOS_TOPOLOGY as Topology;
const forMs = minutes === undefined ? 4000 : Number(minutes) * 60_000;
const quietMs = minutes === undefined ? 1500 : 10_000;
jest.setTimeout(forMs + 240_000);

async function run(): Promise<Outcome> {
  if (!(topology in STAGES)) throw new Error(`Topologies are ${Object.keys(STAGES).join(', ')}; this is ${topology}.`);
  const announce = (faults: readonly Fault[]): void => console.log(showSchedule(faults));
  const more = { ...(minutes === undefined ? {} : { announce }), broken: broken !== undefined };
  const outcome = await Harness.run({ seed, forMs, quietMs, clients: 4, start: STAGES[topology], ...more });
  if (minutes !== undefined) console.log(JSON.stringify(reportOf(outcome), undefined, 1));
  return outcome;
}

function reportOf({ history, faults, failures }: Outcome): object {
  const { grants, runs, audited, rows, passes } = history;
  const writes = audited.filter(({ op }) => op === 'write');
  const { judged, excused } = passedUnheld(history);
  return {
    ...{ topology, seed, ttlMs: history.ttlMs, faults, failures, grants: grants.length, runs: runs.length, items: rows.set.length },
    ...{ writes: writes.length, refused: writes.filter(({ register }) => !register).length },
    ...{ passes: passes.length, judged, excused, twoAtOnce: overlaps(history), longestGaps: longestGaps(history) },
    withoutFence: Object.fromEntries(['careful', 'naive', 'long'].map((key) => [key, unfenced(history, key)])),
  };
}

/** What was found, by promise. */
const found = ({ history }: Outcome): Record<string, readonly string[]> => ({
  'I1: stale writes accepted': staleAccepted(history),
  'acknowledged writes lost, refused ones there': lostOrStale(history),
  'I2: tokens that do not rise': tokensNotRising(history),
  'I3: held, but not in the store': passedUnheld(history).violations.slice(0, 20),
  'I4: not served': notServed(history),
  'I5: without a ttl': history.endless,
  'order of the line': history.line,
  'instants that ran twice': ranTwice(history),
  'instants that nobody ran': ranNever(history),
  crashes: history.crashes,
});

describe('clients at work while everything around them breaks', () => {
  if (broken !== undefined) {
    it(`are found out when they do not ask whether they hold their lease (${topology}, seed ${CHAOS_SEED})`, async () => {
      const all = found(await run());
      expect(all['I3: held, but not in the store']).not.toEqual([]);
      expect(all['I1: stale writes accepted']).toEqual([]);
      expect(all['acknowledged writes lost, refused ones there']).toEqual([]);
    });
    return;
  }

  it(`keep every promise (${topology}, seed ${CHAOS_SEED})`, async () => {
    const outcome = await run();
    const broken = Object.entries(found(outcome)).filter(([, wrong]) => wrong.length > 0);
    expect(Object.fromEntries(broken)).toEqual({});
    expect(Object.keys(outcome.faults).length).toBeGreaterThan(5);
    expect(outcome.history.grants.length).toBeGreaterThan(50);
    expect(passedUnheld(outcome.history).judged).toBeGreaterThan(50);
  });
});
