import { describe, expect, it } from '@jest/globals';
import { ask, freshKey, holderOf, SHORT, take, type Features, type MakeHarness, type StoreHarness } from './harness.js';

export function operatorContract(harness: () => StoreHarness, makeHarness: MakeHarness, features: Features): void {
  describe('inspect', () => {
    it('shows who holds the key, since when and for how long', async () => {
      const { store, rival, slackMs } = harness();
      const held = await take(store, freshKey(), { ttlMs: 20_000 });
      const record = await rival.inspect(held.key);
      const { key, holder, holderTag, fencingToken } = held;
      expect(record).toMatchObject({ key, state: 'held', holder, holderTag, fencingToken, waiters: 0 });
      expect(record?.remainingMs).toBeLessThanOrEqual(20_000);
      expect(record?.remainingMs).toBeGreaterThanOrEqual(20_000 - slackMs);
      expect(Math.abs((record?.since ?? 0) - fencingToken / 1000)).toBeLessThan(1000);
    });

    it('keeps the beginning when the lease is renewed or asked for again', async () => {
      const { store, advance } = harness();
      const held = await take(store, freshKey());
      const since = (await store.inspect(held.key))?.since ?? 0;
      await advance(100);
      await store.renew([held]);
      await store.acquire(held);
      const now = (await store.inspect(held.key))?.since ?? Infinity;
      expect(Math.abs(now - since)).toBeLessThanOrEqual(features.several ? 50 : 0);
    });

    it('shows nothing of a key that is free, was released, or is over', async () => {
      const { store, advance } = harness();
      const released = await take(store, freshKey());
      const over = await take(store, freshKey(), { ttlMs: SHORT });
      await store.release(released);
      await advance(SHORT + 1);
      expect(await Promise.all([freshKey(), released.key, over.key].map((key) => store.inspect(key)))).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    });

    it('carries a description of the holder unchanged, whatever is in it', async () => {
      const { store, rival } = harness();
      const holder = '{"a":"b"}\n\u0000 | ; é 🐟 "quoted" \\ %s';
      const held = await take(store, freshKey(), { holder });
      expect((await rival.inspect(held.key))?.holder).toBe(holder);
      expect(await rival.acquire(ask(held.key))).toMatchObject({ holder });
    });
  });

  describe('forceRelease', () => {
    it('ends the lease whoever holds it and shows what it ended', async () => {
      const { store, rival } = harness();
      const held = await take(store, freshKey());
      expect(await rival.forceRelease(held.key)).toMatchObject({
        key: held.key,
        state: 'held',
        holder: held.holder,
        holderTag: held.holderTag,
        fencingToken: held.fencingToken,
      });
      expect(await store.inspect(held.key)).toBeUndefined();
    });

    it('tells the holder at its next renewal and release', async () => {
      const { store, rival } = harness();
      const held = await take(store, freshKey());
      await rival.forceRelease(held.key);
      expect((await store.renew([held]))[0]?.kind).toBe('gone');
      expect((await store.release(held)).kind).toBe('not-held');
      expect(await store.inspect(held.key)).toBeUndefined();
    });

    it('keeps the fence: the next token is higher', async () => {
      const { store, rival, readFence } = harness();
      const held = await take(store, freshKey());
      await rival.forceRelease(held.key);
      expect((await readFence(held.key))?.token).toBe(held.fencingToken);
      expect((await take(store, held.key)).fencingToken).toBeGreaterThan(held.fencingToken);
    });

    it('heals a fence that was lost: the next token must be higher all the same', async () => {
      const { store, rival, loseFence, readFence } = harness();
      const held = await take(store, freshKey());
      await loseFence(held.key);
      await rival.forceRelease(held.key);
      expect((await readFence(held.key))?.token).toBe(held.fencingToken);
    });

    it('gives undefined for a key that is free, and is safe to repeat', async () => {
      const { store } = harness();
      const held = await take(store, freshKey());
      await store.forceRelease(held.key);
      expect(await store.forceRelease(held.key)).toBeUndefined();
      expect(await store.forceRelease(freshKey())).toBeUndefined();
    });
  });

  describe('the store itself', () => {
    it('answers a ping', async () => {
      await expect(harness().store.ping()).resolves.toBeUndefined();
    });

    it('lets a listener come and go without effect on the leases', async () => {
      const { store } = harness();
      const subscription = store.onWake('process', () => undefined);
      const held = await take(store, freshKey());
      subscription.unsubscribe();
      subscription.unsubscribe();
      expect(await holderOf(store, held.key)).toBe(held.holderTag);
    });

    it('survives being told of calls that were given up', async () => {
      const { store } = harness();
      store.unanswered?.();
      await take(store, freshKey());
    });

    it('can be closed more than once', async () => {
      const own = await makeHarness();
      try {
        await own.store.close();
        await expect(own.store.close()).resolves.toBeUndefined();
      } finally {
        await own.close();
      }
    });
  });
}
