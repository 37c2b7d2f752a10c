import { describe, expect, it, jest } from '@jest/globals';
import { Fuzz, type FuzzResult } from '../support/fuzz.js';

/** `npm run fuzz -- --seed N --minutes M` sets these; without them: a few seconds with fixed seeds. */
const { LEASE_FUZZ_SEED: seed, LEASE_FUZZ_MINUTES: minutes } = process.env;
const seeds = seed === undefined ? [1, 2] : [Number(seed)];
const forMs = minutes === undefined ? 5000 : Number(minutes) * 60_000;
jest.setTimeout(forMs + 60_000);

describe('several processes count under one lease', () => {
  const judged = (result: FuzzResult): void => {
    if (minutes !== undefined) console.log(JSON.stringify(result));
    expect(result.writes).toBeGreaterThan(20);
    expect(result.lostWithoutFault).toEqual([]);
    expect(result.fencedValue).toBe(result.fencedAccepted);
    expect(result.unhandled).toBe(0);
  };

  it('without faults no update is lost, fence or not', async () => {
    const result = await Fuzz.run({ seed: seeds[0] as number, forMs: 3000, ttlMs: 3000, workers: 4, faults: false });
    judged(result);
    expect(result.lostAfterFault).toBe(0);
    expect(result.fencedAccepted).toBe(result.writes);
  });

  it.each(seeds)('killed, frozen and robbed (seed %d): the fenced row loses nothing, the other only where a fault hit', async (n) => {
    const result = await Fuzz.run({ seed: n, forMs, ttlMs: 500, workers: 4, faults: true });
    judged(result);
    expect(result.faults.kill + result.faults.freeze + result.faults.delete).toBeGreaterThan(3);
  });
});
