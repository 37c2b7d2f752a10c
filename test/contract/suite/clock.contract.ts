import { describe, expect, it } from '@jest/globals';
import { ask, busyOf, DAY_MS, freshKey, holderOf, HOUR_MS, LONG, take, type Features, type StoreHarness } from './harness.js';

type Step = (ms: number) => void;

/** What the store's own clock may do to leases and tokens; only where the suite can move it. */
export function clockContract(harness: () => StoreHarness, features: Features): void {
  if (!features.virtualTime) return;
  const step: Step = (ms) => {
    const { stepClock } = harness();
    if (stepClock === undefined) throw new Error('A harness with virtual time must have stepClock.');
    stepClock(ms);
  };
  describe('the clock of the store', () => {
    it('may go back an hour: tokens still increase', async () => {
      const { store } = harness();
      const first = await take(store, freshKey());
      await store.release(first);
      step(-HOUR_MS);
      expect((await take(store, first.key)).fencingToken).toBeGreaterThan(first.fencingToken);
      step(HOUR_MS);
    });

    it('may go forward an hour and back: tokens still increase, and the lease in between is over', async () => {
      const { store } = harness();
      const first = await take(store, freshKey());
      step(HOUR_MS);
      const second = await take(store, first.key);
      step(-HOUR_MS);
      await store.release(second);
      const third = await take(store, first.key);
      expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
      expect(third.fencingToken).toBeGreaterThan(second.fencingToken);
    });

    it('may go back: a remaining time is never said to be longer than the ttl granted', async () => {
      const { store, rival } = harness();
      const held = await take(store, freshKey());
      step(-HOUR_MS);
      expect(busyOf(await rival.acquire(ask(held.key))).remainingMs).toBe(LONG);
      expect((await rival.inspect(held.key))?.remainingMs).toBe(LONG);
      step(HOUR_MS);
    });

    it('may go back: the next renewal makes the lease end in time again', async () => {
      const { store, advance } = harness();
      const held = await take(store, freshKey());
      step(-HOUR_MS);
      await store.renew([held]);
      await advance(LONG - 1);
      expect(await holderOf(store, held.key)).toBe(held.holderTag);
      await advance(1);
      expect(await store.inspect(held.key)).toBeUndefined();
    });

    it('may go back two days: the fence does not count as a floor that poisons', async () => {
      const { store } = harness();
      const first = await take(store, freshKey());
      await store.release(first);
      step(-2 * DAY_MS);
      expect((await take(store, first.key, { floor: first.fencingToken })).fencingToken).toBe(first.fencingToken + 1);
      step(2 * DAY_MS);
    });

    it('may go back two days: a lost fence is healed all the same, and kept until the clock has passed it', async () => {
      const { store, loseFence, readFence, advance } = harness();
      const held = await take(store, freshKey());
      step(-2 * DAY_MS);
      await loseFence(held.key);
      await store.renew([held]);
      await store.release(held);
      await advance(2 * DAY_MS);
      expect((await readFence(held.key))?.token).toBe(held.fencingToken);
    });

    it('ends a lease at the very millisecond of its ttl, not before', async () => {
      const { store, advance } = harness();
      const held = await take(store, freshKey(), { ttlMs: 5000 });
      await advance(4999);
      expect((await store.inspect(held.key))?.remainingMs).toBe(1);
      await advance(1);
      expect(await store.inspect(held.key)).toBeUndefined();
    });
  });
}
