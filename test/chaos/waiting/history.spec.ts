import { describe, expect, it, jest } from '@jest/globals';
import { lostWakeUps, twoHolders, unserved } from './judge.js';
import { Storm } from './storm.js';

/** `npm run chaos:waiting -- [SECONDS] [--seed N]` sets these; without them: a few seconds with a fixed seed. */
const { WAITING_CHAOS_SEED: seed, WAITING_CHAOS_SECONDS: seconds } = process.env;
const forMs = Number(seconds ?? 6) * 1000;
jest.setTimeout(forMs + 60_000);

describe('waiters in processes that are killed, frozen and cut off', () => {
  it.each([Number(seed ?? 7)])('are served in order, one at a time, and nobody is forgotten (seed %d)', async (n) => {
    const history = await Storm.run({ seed: n, forMs, replicas: 4, keys: 2 });
    const { models, faults, asked, healedAt, settledAt } = history;
    if (seconds !== undefined)
      console.log(JSON.stringify({ seed: n, calls: asked.length, faults, settledMs: Math.round(settledAt - healedAt) }));
    expect(models.flatMap(({ violations }) => violations)).toEqual([]);
    expect(twoHolders(history)).toEqual([]);
    expect(lostWakeUps(history)).toEqual([]);
    expect(history.unsettled).toEqual([]);
    expect(unserved(history)).toEqual([]);
    expect(history.leftovers).toEqual([]);
    expect(history.replicas.flatMap(({ process }) => process.of('unhandled'))).toEqual([]);
    expect(models.reduce((sum, { steps }) => sum + steps.length, 0)).toBeGreaterThan(100);
    expect(Object.keys(faults).length).toBeGreaterThan(2);
  });
});
