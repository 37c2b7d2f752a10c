import { describe, expect, it } from '@jest/globals';
import { ask, busyOf, freshKey, grantedOf, holderOf, LONG, SHORT, take, type Features, type StoreHarness } from './harness.js';

export function acquireContract(harness: () => StoreHarness, features: Features): void {
  describe('acquire', () => {
    it('grants a free key with a safe integer token, the ttl asked for, and the time of the store', async () => {
      const { granted } = await take(harness().store, freshKey());
      expect(Number.isSafeInteger(granted.fencingToken)).toBe(true);
      expect(granted.fencingToken).toBeGreaterThan(0);
      expect(granted.ttlMs).toBe(LONG);
      if (granted.serverTimeMs !== undefined) {
        expect(Math.abs(granted.serverTimeMs - granted.fencingToken / 1000)).toBeLessThan(1000);
      }
    });

    it('refuses a held key, and says who holds it, by which token and for how long', async () => {
      const { store, rival, slackMs } = harness();
      const key = freshKey();
      const held = await take(store, key, { ttlMs: 20_000 });
      const refused = busyOf(await rival.acquire(ask(key)));
      expect(refused).toMatchObject({ fencingToken: held.fencingToken, holder: held.holder, holderTag: held.holderTag });
      expect(refused.remainingMs).toBeLessThanOrEqual(20_000);
      expect(refused.remainingMs).toBeGreaterThanOrEqual(20_000 - slackMs);
    });

    it('never tells the holder id', async () => {
      const { store } = harness();
      const key = freshKey();
      const held = await take(store, key, { holderId: 'the-secret-of-this-holder' });
      const said = JSON.stringify([await store.acquire(ask(key)), await store.inspect(key), held.granted, await store.forceRelease(key)]);
      expect(said).not.toContain('the-secret-of-this-holder');
    });

    it('gives the same holder the same token again, from another connection too', async () => {
      const { store, rival } = harness();
      const held = await take(store, freshKey());
      const again = grantedOf(await rival.acquire(held));
      expect(again).toMatchObject({ fencingToken: held.fencingToken, ttlMs: LONG });
    });

    it('gives the same holder the full ttl again', async () => {
      const { store, slackMs } = harness();
      const held = await take(store, freshKey(), { ttlMs: 10_000 });
      await store.acquire({ ...held, ttlMs: LONG });
      expect((await store.inspect(held.key))?.remainingMs).toBeGreaterThanOrEqual(LONG - slackMs);
    });

    it('does not shorten what it granted when the same holder asks for less', async () => {
      const { store, slackMs } = harness();
      const held = await take(store, freshKey());
      await store.acquire({ ...held, ttlMs: SHORT });
      expect((await store.inspect(held.key))?.remainingMs).toBeGreaterThanOrEqual(LONG - slackMs);
    });

    it('grants a key whose ttl is over to the next one', async () => {
      const { store, rival, advance } = harness();
      const first = await take(store, freshKey(), { ttlMs: SHORT });
      await advance(SHORT + 1);
      const second = await take(rival, first.key);
      expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
      expect(await holderOf(store, first.key)).toBe(second.holderTag);
    });

    it('gives a holder whose ttl is over a new and higher token', async () => {
      const { store, advance } = harness();
      const first = await take(store, freshKey(), { ttlMs: SHORT });
      await advance(SHORT + 1);
      expect(grantedOf(await store.acquire(first)).fencingToken).toBeGreaterThan(first.fencingToken);
    });

    it('changes nothing when it is refused: the holder, the remaining time and the fence stay', async () => {
      const { store, rival, readFence } = harness();
      const held = await take(store, freshKey());
      const before = await readFence(held.key);
      const refused = await Promise.all(Array.from({ length: 20 }, () => rival.acquire(ask(held.key, { ttlMs: 60_000 }))));
      expect(refused.map(({ kind }) => kind)).toEqual(Array<string>(20).fill('busy'));
      const record = await store.inspect(held.key);
      expect(record).toMatchObject({ holderTag: held.holderTag, fencingToken: held.fencingToken });
      expect(record?.remainingMs).toBeLessThanOrEqual(LONG);
      expect((await readFence(held.key))?.token).toBe(before?.token);
    });

    it('grants one of fifty that ask at once, and tells the others who it was', async () => {
      const { store, rival } = harness();
      const key = freshKey();
      const results = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? store : rival).acquire(ask(key))));
      const winners = results.filter((result) => result.kind === 'granted');
      if (features.several) {
        expect(winners.length).toBeLessThanOrEqual(1);
        return;
      }
      expect(winners).toHaveLength(1);
      const token = winners[0]?.fencingToken;
      expect(results.map(({ fencingToken }) => fencingToken)).toEqual(Array<unknown>(50).fill(token));
    });

    it('grants all of fifty repetitions of one request the same token', async () => {
      const { store, rival } = harness();
      const request = ask(freshKey());
      const results = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? store : rival).acquire(request)));
      expect(new Set(results.map((result) => grantedOf(result).fencingToken)).size).toBe(1);
    });
  });
}
