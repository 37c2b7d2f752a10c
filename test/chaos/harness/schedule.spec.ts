import { describe, expect, it } from '@jest/globals';
import { CLIENT_FAULTS, scheduleOf, STORE_FAULTS } from './schedule.js';

const kinds = [...CLIENT_FAULTS, ...STORE_FAULTS];
const of = (seed: number, forMs = 30_000): ReturnType<typeof scheduleOf> => scheduleOf({ seed, forMs, kinds, ttlMs: 1000 });

describe('a schedule', () => {
  it('follows from its seed, and from nothing else', () => {
    expect(of(5)).toEqual(of(5));
    expect(of(5)).not.toEqual(of(6));
  });
  it('has every kind of fault, spread over the whole time', () => {
    const faults = of(7);
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(kinds));
    expect(faults.map(({ atMs }) => atMs)).toEqual(faults.map(({ atMs }) => atMs).sort((one, other) => one - other));
    expect(faults.at(-1)?.atMs).toBeGreaterThan(29_000);
  });
});
