import { describe, expect, it, jest } from '@jest/globals';
import { Harness } from './harness.js';
import { lostOrStale, notServed, passedUnheld, ranTwice, staleAccepted, tokensNotRising, unfenced } from './judges.js';
import { showSchedule } from './schedule.js';
import { STAGES, type Topology } from './stages.js';

/** `npm run chaos -- --seed N --minutes M --topology T` sets these; without them: a few seconds with a fixed seed. */
const { CHAOS_SEED: seed = '20', CHAOS_MINUTES: minutes, CHAOS_TOPOLOGY: topology = 'primary' } = process.env;
const forMs = minutes === undefined ? 6000 : Number(minutes) * 60_000;
jest.setTimeout(forMs + 180_000);

describe('clients at work while everything around them breaks', () => {
  it.each([[topology as Topology, Number(seed)]])('keep every promise (%s, seed %d)', async (name, n) => {
    const verbose = minutes !== undefined;
    const announce = verbose ? (faults: Parameters<typeof showSchedule>[0]) => console.log(showSchedule(faults)) : undefined;
    const outcome = await Harness.run({ seed: n, forMs, clients: 4, start: STAGES[name], ...(announce ? { announce } : {}) });
    const { history, faults, failures } = outcome;
    const held = passedUnheld(history);
    const { grants, runs, audited, rows } = history;
    const report = {
      ...{ topology: name, seed: n, faults, failures, grants: grants.length, writes: audited.filter(({ op }) => op === 'write').length },
      ...{ refused: audited.filter(({ op, register }) => op === 'write' && !register).length, items: rows.set.length, runs: runs.length },
      ...{ passes: { judged: held.judged, excused: held.excused } },
      withoutFence: { careful: unfenced(history, 'careful'), naive: unfenced(history, 'naive'), long: unfenced(history, 'long') },
    };
    if (verbose) console.log(JSON.stringify(report, undefined, 1));
    expect({
      'I1: stale writes accepted': staleAccepted(history),
      'acknowledged writes lost, refused ones there': lostOrStale(history),
      'I2: tokens that do not rise': tokensNotRising(history),
      'I3: held, but not in the store': held.violations,
      'I4: not served': notServed(history),
      'I5: without a ttl': history.endless,
      'order of the line': history.line,
      'instants that ran twice': ranTwice(history),
      crashes: history.crashes,
    }).toEqual({
      'I1: stale writes accepted': [],
      'acknowledged writes lost, refused ones there': [],
      'I2: tokens that do not rise': [],
      'I3: held, but not in the store': [],
      'I4: not served': [],
      'I5: without a ttl': [],
      'order of the line': [],
      'instants that ran twice': [],
      crashes: [],
    });
    expect(Object.keys(faults).length).toBeGreaterThan(5);
    expect(grants.length).toBeGreaterThan(50);
    expect(held.judged).toBeGreaterThan(50);
  });
});
