import { describe, expect, it } from '@jest/globals';
import { ask, freshKey, storeErrorKind, take, type Features, type StoreHarness } from './harness.js';

const NEAR_2_53 = ['9007199254740991', '9007199254740992', '9223372036854775807'];
const NO_NUMBERS = ['nonsense', '', '1.5', '-1', '1e3', 'NaN', 'inf', '0x10', ' 7'];

/** What somebody else's hand may leave in the store. */
export function strangeDataContract(harness: () => StoreHarness, features: Features): void {
  describe('a fence that cannot be one', () => {
    it.each(features.textFence ? [...NEAR_2_53, ...NO_NUMBERS] : NEAR_2_53)('is an error of the store, never zero: %j', async (value) => {
      const { store, putFence } = harness();
      const key = freshKey();
      await putFence(key, value);
      expect(['foreign', 'fatal', 'floor']).toContain(await storeErrorKind(store.acquire(ask(key))));
      expect(await store.inspect(key)).toBeUndefined();
    });

    it('does not keep the holder from renewing and releasing', async () => {
      const { store, putFence } = harness();
      const held = await take(store, freshKey());
      await putFence(held.key, NEAR_2_53[0] as string);
      expect((await store.renew([held]))[0]?.kind).toBe('held');
      expect((await store.release(held)).kind).toBe('released');
    });
  });

  if (features.foreign) foreignContract(harness);

  if (features.immortal) immortalContract(harness);
}

function immortalContract(harness: () => StoreHarness): void {
  describe('everything the store keeps', () => {
    it('ends by itself', async () => {
      const { store, immortal } = harness();
      const held = await take(store, freshKey());
      await store.renew([held]);
      await store.acquire(ask(held.key));
      await store.release(await take(store, freshKey()));
      await store.leave(await take(store, freshKey()));
      await store.forceRelease((await take(store, freshKey())).key);
      expect(await immortal?.()).toEqual([]);
    });
  });
}

function foreignContract(harness: () => StoreHarness): void {
  async function foreign(): Promise<string> {
    const { putForeign } = harness();
    if (putForeign === undefined) throw new Error('A harness with the feature "foreign" must have putForeign.');
    const key = freshKey('foreign');
    await putForeign(key);
    return key;
  }
  const stillThere = (key: string): Promise<boolean> | undefined => harness().isForeign?.(key);

  describe('a key that holds something foreign', () => {
    it('is an error for acquire, inspect and forceRelease, and is left as it is', async () => {
      const { store } = harness();
      const key = await foreign();
      expect(await storeErrorKind(store.acquire(ask(key)))).toBe('foreign');
      expect(await storeErrorKind(store.inspect(key))).toBe('foreign');
      expect(await storeErrorKind(store.forceRelease(key))).toBe('foreign');
      expect(await stillThere(key)).toBe(true);
    });

    it('is never released or undone by us', async () => {
      const { store } = harness();
      const request = { ...ask(await foreign()), fencingToken: 1 };
      const released = await store.release(request).then(
        ({ kind }) => kind,
        () => 'rejected',
      );
      expect(['not-held', 'rejected']).toContain(released);
      await store.leave(request).catch(() => undefined);
      expect(await stillThere(request.key)).toBe(true);
    });

    it('is not held for a renewal, and concerns no other renewal of the batch', async () => {
      const { store } = harness();
      const key = await foreign();
      const [first, last] = [await take(store, freshKey()), await take(store, freshKey())];
      const results = await store.renew([first, { ...ask(key), fencingToken: 1 }, last]);
      expect(results.map(({ kind }) => kind)).toEqual(['held', expect.not.stringMatching('held'), 'held']);
      expect(results).toHaveLength(3);
      expect(await stillThere(key)).toBe(true);
    });
  });
}
