import { describe, expect, it } from '@jest/globals';
import type { RenewRequest } from '../../../lib/stores/lease-store.js';
import { ask, freshKey, holderOf, HOUR_MS, LONG, SHORT, take, type Features, type StoreHarness } from './harness.js';

export function renewContract(harness: () => StoreHarness, features: Features): void {
  describe('renew', () => {
    it('extends the lease to the ttl asked for', async () => {
      const { store, rival, slackMs } = harness();
      const held = await take(store, freshKey(), { ttlMs: 10_000 });
      const [result] = await rival.renew([{ ...held, ttlMs: LONG }]);
      expect(result?.kind).toBe('held');
      expect((await store.inspect(held.key))?.remainingMs).toBeGreaterThanOrEqual(LONG - slackMs);
    });

    it('never shortens the lease', async () => {
      const { store, slackMs } = harness();
      const held = await take(store, freshKey());
      expect((await store.renew([{ ...held, ttlMs: SHORT }]))[0]?.kind).toBe('held');
      expect((await store.inspect(held.key))?.remainingMs).toBeGreaterThanOrEqual(LONG - slackMs);
    });

    it('shows the longer ttl after a renewal to more, and does not clamp it to what was granted first', async () => {
      const { store, rival, slackMs } = harness();
      const held = await take(store, freshKey(), { ttlMs: 1000 });
      await store.renew([{ ...held, ttlMs: 20_000 }]);
      const refused = await rival.acquire(ask(held.key));
      expect(refused).toMatchObject({ kind: 'busy', holderTag: held.holderTag });
      expect((await rival.inspect(held.key))?.remainingMs).toBeGreaterThanOrEqual(20_000 - slackMs);
    });

    it('keeps a lease alive beyond its first ttl', async () => {
      const { store, advance } = harness();
      const held = await take(store, freshKey(), { ttlMs: 1500 });
      await advance(800);
      expect((await store.renew([held]))[0]?.kind).toBe('held');
      await advance(800);
      expect(await holderOf(store, held.key)).toBe(held.holderTag);
      expect((await store.inspect(held.key))?.fencingToken).toBe(held.fencingToken);
    });

    it('answers each request by itself and in order: held, gone, taken', async () => {
      const { store, rival, loseKey } = harness();
      const held = await take(store, freshKey());
      const lost = await take(store, freshKey());
      const taken = await take(store, freshKey());
      await loseKey(lost.key);
      await loseKey(taken.key);
      const next = await take(rival, taken.key);
      const results = await store.renew([taken, held, lost, taken, held]);
      expect(results.map(({ kind }) => kind)).toEqual(['taken', 'held', 'gone', 'taken', 'held']);
      const [first] = results;
      if (first?.kind === 'taken' && first.fencingToken !== undefined) expect(first.fencingToken).toBe(next.fencingToken);
    });

    it('answers nothing when asked nothing', async () => {
      expect(await harness().store.renew([])).toEqual([]);
    });

    it('renews a thousand leases in one call', async () => {
      const { store } = harness();
      const leases = await Promise.all(Array.from({ length: 1000 }, () => take(store, freshKey('many'))));
      const results = await store.renew(leases);
      expect(results.filter(({ kind }) => kind === 'held')).toHaveLength(1000);
      await Promise.all(leases.map((lease) => store.release(lease)));
    });

    it('never creates a lease', async () => {
      const { store, loseKey } = harness();
      const held = await take(store, freshKey());
      await loseKey(held.key);
      await store.renew([held, { key: freshKey(), holderId: 'never-acquired', fencingToken: 1, ttlMs: LONG }]);
      expect(await store.inspect(held.key)).toBeUndefined();
    });

    it('says gone once the ttl is over', async () => {
      const { store, advance } = harness();
      const held = await take(store, freshKey(), { ttlMs: SHORT });
      await advance(SHORT + 1);
      expect((await store.renew([held]))[0]?.kind).toBe('gone');
    });

    it('does not extend the lease of the holder that took over', async () => {
      const { store, rival, loseKey } = harness();
      const first = await take(store, freshKey());
      await loseKey(first.key);
      const second = await take(rival, first.key, { ttlMs: 5000 });
      await store.renew([{ ...first, ttlMs: 60_000 }]);
      const record = await rival.inspect(first.key);
      expect(record?.holderTag).toBe(second.holderTag);
      expect(record?.remainingMs).toBeLessThanOrEqual(5000);
    });

    it('heals a fence that was lost', async () => {
      const { store, loseFence, readFence } = harness();
      const held = await take(store, freshKey());
      await loseFence(held.key);
      await store.renew([held]);
      expect((await readFence(held.key))?.token).toBe(held.fencingToken);
    });

    it('heals a fence that is lower', async () => {
      const { store, putFence, readFence } = harness();
      const held = await take(store, freshKey());
      await putFence(held.key, '5');
      await store.renew([held]);
      expect((await readFence(held.key))?.token).toBe(held.fencingToken);
    });

    it('leaves a fence that is higher', async () => {
      const { store, putFence, readFence } = harness();
      const held = await take(store, freshKey());
      await putFence(held.key, String(held.fencingToken + 7));
      await store.renew([held]);
      expect((await readFence(held.key))?.token).toBe(held.fencingToken + 7);
    });

    it('raises the fence to a higher token of the holder, and not to one of somebody who holds nothing', async () => {
      const { store, readFence } = harness();
      const held = await take(store, freshKey());
      const ahead = held.fencingToken + HOUR_MS * 1000;
      const stranger: RenewRequest = { ...ask(held.key), fencingToken: ahead };
      await store.renew([stranger]);
      expect((await readFence(held.key))?.token).toBe(held.fencingToken);
      await store.renew([{ ...held, fencingToken: ahead }]);
      expect((await readFence(held.key))?.token).toBe(ahead);
    });

    if (features.virtualTime) {
      it('remembers the token for the full time again', async () => {
        const { store, advance, readFence } = harness();
        const held = await take(store, freshKey(), { ttlMs: 2 * HOUR_MS });
        const before = await readFence(held.key);
        await advance(HOUR_MS);
        await store.renew([held]);
        expect((await readFence(held.key))?.ttlMs).toBeGreaterThanOrEqual(before?.ttlMs ?? Infinity);
      });
    }
  });
}
