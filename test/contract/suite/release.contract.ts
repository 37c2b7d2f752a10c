import { describe, expect, it } from '@jest/globals';
import { ask, freshKey, grantedOf, holderOf, SHORT, take, type StoreHarness } from './harness.js';

export function releaseContract(harness: () => StoreHarness): void {
  describe('release', () => {
    it('frees the key at once, for other processes too', async () => {
      const { store, rival } = harness();
      const held = await take(store, freshKey());
      expect(await store.release(held)).toEqual({ kind: 'released' });
      expect(await rival.inspect(held.key)).toBeUndefined();
      await take(rival, held.key);
    });

    it('is safe to repeat', async () => {
      const { store } = harness();
      const held = await take(store, freshKey());
      const results = [await store.release(held), await store.release(held), await store.release(held)];
      expect(results.map(({ kind }) => kind)).toEqual(['released', 'not-held', 'not-held']);
    });

    it('never touches the next holder, however often it is repeated', async () => {
      const { store, rival } = harness();
      const first = await take(store, freshKey());
      await store.release(first);
      const second = await take(rival, first.key);
      expect(await store.release(first)).toEqual({ kind: 'not-held' });
      await store.leave(first);
      expect(await holderOf(store, first.key)).toBe(second.holderTag);
    });

    it('does nothing for a holder id that does not hold it', async () => {
      const { store } = harness();
      const held = await take(store, freshKey());
      expect(await store.release({ key: held.key, holderId: 'somebody else', fencingToken: held.fencingToken })).toEqual({
        kind: 'not-held',
      });
      expect(await holderOf(store, held.key)).toBe(held.holderTag);
    });

    it('does nothing for the public tag of the holder', async () => {
      const { store } = harness();
      const held = await take(store, freshKey());
      expect(await store.release({ ...held, holderId: held.holderTag })).toEqual({ kind: 'not-held' });
    });

    it('says not-held once the ttl is over, and when the key was never acquired', async () => {
      const { store, advance } = harness();
      const held = await take(store, freshKey(), { ttlMs: SHORT });
      await advance(SHORT + 1);
      expect(await store.release(held)).toEqual({ kind: 'not-held' });
      expect(await store.release({ ...held, key: freshKey() })).toEqual({ kind: 'not-held' });
    });

    it('keeps the fence, and heals it where it was lost', async () => {
      const { store, loseFence, readFence } = harness();
      const held = await take(store, freshKey());
      await loseFence(held.key);
      await store.release(held);
      expect((await readFence(held.key))?.token).toBe(held.fencingToken);
    });

    it('ends the lease for renewals that arrive after it', async () => {
      const { store } = harness();
      const held = await take(store, freshKey());
      const [released, renewed] = await Promise.all([store.release(held), store.renew([held])]);
      expect(released.kind).toBe('released');
      expect(['gone', 'held']).toContain(renewed[0]?.kind);
      expect(await store.inspect(held.key)).toBeUndefined();
      expect((await store.renew([held]))[0]?.kind).toBe('gone');
    });
  });

  describe('leave', () => {
    it('undoes an acquire, and is safe to repeat', async () => {
      const { store, rival } = harness();
      const held = await take(store, freshKey());
      await store.leave(held);
      await store.leave(held);
      expect(await rival.inspect(held.key)).toBeUndefined();
    });

    it('does nothing for a holder id that does not hold it', async () => {
      const { store } = harness();
      const held = await take(store, freshKey());
      await store.leave({ key: held.key, holderId: 'somebody else', holderTag: 'tag' });
      await store.leave({ ...held, key: freshKey() });
      expect(await holderOf(store, held.key)).toBe(held.holderTag);
    });

    it('keeps the fence: the next token is higher', async () => {
      const { store, readFence } = harness();
      const held = await take(store, freshKey());
      await store.leave(held);
      expect((await readFence(held.key))?.token).toBe(held.fencingToken);
      expect((await take(store, held.key)).fencingToken).toBeGreaterThan(held.fencingToken);
    });

    it('lets the same holder ask again, for a new token', async () => {
      const { store } = harness();
      const request = ask(freshKey());
      const first = grantedOf(await store.acquire(request));
      await store.leave(request);
      expect(grantedOf(await store.acquire(request)).fencingToken).toBeGreaterThan(first.fencingToken);
    });
  });
}
