import { describe, expect, it } from '@jest/globals';
import { ask, DAY_MS, freshKey, grantedOf, HOUR_MS, SHORT, storeErrorKind, take, type Features, type StoreHarness } from './harness.js';

export function tokenContract(harness: () => StoreHarness, features: Features): void {
  describe('fencing token', () => {
    it('increases with every acquisition, faster than the clock ticks too', async () => {
      const { store, rival } = harness();
      const key = freshKey();
      const tokens: number[] = [];
      for (let i = 0; i < 200; i++) {
        const held = await take(i % 2 ? store : rival, key);
        tokens.push(held.fencingToken);
        await store.release(held);
      }
      expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    });

    it('is not behind the clock of the store', async () => {
      const { store } = harness();
      const { granted } = await take(store, freshKey());
      if (granted.serverTimeMs === undefined) return;
      expect(granted.fencingToken).toBeGreaterThanOrEqual(Math.floor(granted.serverTimeMs) * 1000);
    });

    it.each(['lease', 'fence', 'lease and fence'] as const)('increases after the loss of the %s', async (what) => {
      const { store, rival, loseKey, loseFence, advance } = harness();
      const first = await take(store, freshKey());
      if (what !== 'fence') await loseKey(first.key);
      else await store.release(first);
      if (what !== 'lease') await loseFence(first.key);
      await advance(1);
      expect((await take(rival, first.key)).fencingToken).toBeGreaterThan(first.fencingToken);
    });

    it('increases though both were lost and the clock is behind, when the floor is told', async () => {
      const { store, rival, loseKey, loseFence } = harness();
      const ahead = (await take(store, freshKey())).fencingToken + HOUR_MS * 1000;
      const first = await take(store, freshKey(), { floor: ahead });
      await loseKey(first.key);
      await loseFence(first.key);
      expect((await take(rival, first.key, { floor: first.fencingToken })).fencingToken).toBeGreaterThan(first.fencingToken);
    });

    it('is above the floor', async () => {
      const { store } = harness();
      const { fencingToken: now } = await take(store, freshKey());
      const floor = now + 5 * HOUR_MS * 1000;
      const held = await take(store, freshKey(), { floor });
      expect(held.fencingToken).toBe(floor + 1);
      await store.release(held);
      expect((await take(store, held.key)).fencingToken).toBeGreaterThan(floor + 1);
    });

    it('does not follow a floor that is lower than the clock or the fence', async () => {
      const { store } = harness();
      const first = await take(store, freshKey(), { floor: 0 });
      await store.release(first);
      const second = await take(store, first.key, { floor: 17 });
      expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
      expect(second.fencingToken - first.fencingToken).toBeLessThan(HOUR_MS * 1000);
    });

    it('is the same for a repeated request with the same floor', async () => {
      const { store } = harness();
      const { fencingToken: now } = await take(store, freshKey());
      const held = await take(store, freshKey(), { floor: now + HOUR_MS * 1000 });
      expect(grantedOf(await store.acquire(held)).fencingToken).toBe(held.fencingToken);
    });

    it.each([DAY_MS + HOUR_MS, 365 * DAY_MS])(
      'is refused with a floor %d ms ahead of the clock, which would poison the key',
      async (aheadMs) => {
        const { store, readFence } = harness();
        const { fencingToken: now } = await take(store, freshKey());
        const key = freshKey();
        expect(await storeErrorKind(store.acquire(ask(key, { floor: now + aheadMs * 1000 })))).toBe('floor');
        expect(await store.inspect(key)).toBeUndefined();
        expect(await readFence(key)).toBeUndefined();
        expect((await take(store, key)).fencingToken).toBeLessThan(now + HOUR_MS * 1000);
      },
    );

    it('is refused with the highest safe integer as floor', async () => {
      const { store } = harness();
      expect(await storeErrorKind(store.acquire(ask(freshKey(), { floor: Number.MAX_SAFE_INTEGER })))).toBe('floor');
    });
  });

  describe('memory of the last token', () => {
    it('is made by the grant and lasts a day, with an hour to spare at most', async () => {
      const { store, readFence, slackMs } = harness();
      const held = await take(store, freshKey());
      const fence = await readFence(held.key);
      expect(fence?.token).toBe(held.fencingToken);
      expect(fence?.ttlMs).toBeLessThanOrEqual(DAY_MS + 3_600_000);
      expect(fence?.ttlMs).toBeGreaterThanOrEqual(DAY_MS - slackMs);
    });

    it('lasts twice the ttl of a long lease, whether it was acquired or renewed for so long', async () => {
      const { store, readFence, slackMs } = harness();
      const long = await take(store, freshKey(), { ttlMs: DAY_MS });
      const renewed = await take(store, freshKey());
      await store.renew([{ ...renewed, ttlMs: DAY_MS }]);
      for (const { key } of [long, renewed]) expect((await readFence(key))?.ttlMs).toBeGreaterThanOrEqual(2 * DAY_MS - slackMs);
    });

    it('lasts until the clock has passed the token by a day', async () => {
      const { store, readFence, slackMs } = harness();
      const { fencingToken: now } = await take(store, freshKey());
      const held = await take(store, freshKey(), { floor: now + 10 * HOUR_MS * 1000 });
      expect((await readFence(held.key))?.ttlMs).toBeGreaterThanOrEqual(DAY_MS + 10 * HOUR_MS - slackMs - 1000);
      await store.release(held);
      expect((await readFence(held.key))?.ttlMs).toBeGreaterThanOrEqual(DAY_MS + 10 * HOUR_MS - slackMs - 1000);
    });

    it('survives release and expiry of the lease', async () => {
      const { store, advance, readFence } = harness();
      const released = await take(store, freshKey());
      const over = await take(store, freshKey(), { ttlMs: SHORT });
      await store.release(released);
      await advance(SHORT + 1);
      for (const { key, fencingToken } of [released, over]) expect((await readFence(key))?.token).toBe(fencingToken);
    });

    if (features.virtualTime) {
      it('is gone a day after the last use, with nothing left behind', async () => {
        const { store, advance, readFence } = harness();
        const held = await take(store, freshKey());
        await store.release(held);
        await advance(DAY_MS - 1);
        expect(await readFence(held.key)).toBeDefined();
        await advance(2);
        expect(await readFence(held.key)).toBeUndefined();
        expect((await take(store, held.key)).fencingToken).toBeGreaterThan(held.fencingToken);
      });
    }
  });
}
