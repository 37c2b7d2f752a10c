import { describe, expect, it } from '@jest/globals';
import type { EffectStore, SettleEffectRequest, StartEffectReply } from '../../../lib/stores/effect-store.js';
import { freshKey, HOUR_MS, SHORT, storeErrorKind, take, type Features, type StoreHarness, type Taken } from './harness.js';

/** The suite of stores that remember the effects of `once`. */
export function effectsContract(harness: () => StoreHarness, features: Features): void {
  const effects = (): EffectStore => harness().store.effects as EffectStore;
  const rival = (): EffectStore => harness().rival.effects as EffectStore;
  const begin = (lease: Taken, rerun = false, keepMs = HOUR_MS): Promise<StartEffectReply> =>
    effects().start({ key: lease.key, holderId: lease.holderId, keepMs, rerun });
  const settle = (lease: Taken, ending: Partial<SettleEffectRequest> = {}): Promise<{ kind: string }> =>
    effects().settle({ key: lease.key, holderId: lease.holderId, outcome: 'done', text: '{"n":1}', keepMs: HOUR_MS, ...ending });
  const release = (lease: Taken): Promise<unknown> => harness().store.release(lease);
  /** A lease whose effect was begun. */
  const begun = async (key = freshKey('effect')): Promise<Taken> => {
    const lease = await take(harness().store, key);
    expect(await begin(lease)).toEqual({ kind: 'started', rerun: false });
    return lease;
  };
  /** A try that nobody ended, and the lease of who comes after it. */
  const crashed = async (): Promise<{ dead: Taken; next: Taken }> => {
    const dead = await begun();
    await harness().loseKey(dead.key);
    return { dead, next: await take(harness().rival, dead.key) };
  };

  describe('effects', () => {
    it('knows nothing of an effect that nobody began', async () => {
      expect(await effects().find(freshKey('effect'))).toBeUndefined();
    });

    it('begins an effect under its lease, and tells who did and when', async () => {
      const lease = await begun();
      const { holder, holderTag, fencingToken } = lease;
      const since = (await harness().store.inspect(lease.key))?.since ?? NaN;
      const record = await rival().find(lease.key);
      expect(record).toMatchObject({ state: 'started', holder, holderTag, fencingToken, text: '' });
      expect(record?.started).toBeGreaterThanOrEqual(since);
    });

    it('begins nothing without the lease, nor with that of another holder', async () => {
      const key = freshKey('effect');
      const nobody = { key, holderId: 'nobody', keepMs: HOUR_MS, rerun: true };
      expect(await effects().start(nobody)).toEqual({ kind: 'not-held' });
      await take(harness().store, key);
      expect(await effects().start(nobody)).toEqual({ kind: 'not-held' });
      expect(await effects().find(key)).toBeUndefined();
    });

    it('begins once more for the same holder, whose first call had no answer', async () => {
      expect(await begin(await begun())).toEqual({ kind: 'started', rerun: false });
    });

    it('gives the result to whomever comes later, as it was written', async () => {
      const lease = await begun();
      const text = '{"text":"äöü \u2028 \ud83d\ude80 } {","n":0.1}';
      expect(await settle(lease, { text })).toEqual({ kind: 'settled' });
      expect(await settle(lease, { text })).toEqual({ kind: 'settled' });
      await release(lease);
      const next = await take(harness().rival, lease.key);
      const known = { state: 'done', text, fencingToken: lease.fencingToken, holder: lease.holder, holderTag: lease.holderTag };
      expect(await begin(next, true)).toMatchObject({ kind: 'known', record: known });
      expect(await rival().find(lease.key)).toMatchObject(known);
    });

    it('remembers that a result could not be kept, and why', async () => {
      const lease = await begun();
      await settle(lease, { outcome: 'unusable', text: 'too large' });
      expect(await rival().find(lease.key)).toMatchObject({ state: 'unusable', text: 'too large' });
    });

    it('forgets what did not take effect', async () => {
      const lease = await begun();
      expect(await settle(lease, { outcome: 'undone' })).toEqual({ kind: 'settled' });
      expect(await effects().find(lease.key)).toBeUndefined();
      expect(await begin(lease)).toEqual({ kind: 'started', rerun: false });
    });

    it('tells a crashed try apart, and does not begin again', async () => {
      const { dead, next } = await crashed();
      const record = { state: 'started', fencingToken: dead.fencingToken, holderTag: dead.holderTag };
      expect(await begin(next)).toMatchObject({ kind: 'known', record });
      expect(await effects().find(dead.key)).toMatchObject(record);
    });

    it('begins again after a crash where that is allowed, with a higher token', async () => {
      const { dead, next } = await crashed();
      expect(await begin(next, true)).toEqual({ kind: 'started', rerun: true });
      expect(next.fencingToken).toBeGreaterThan(dead.fencingToken);
      expect(await effects().find(dead.key)).toMatchObject({ state: 'started', fencingToken: next.fencingToken });
    });

    it('takes no result from a holder whose lease is over', async () => {
      const lease = await begun();
      await harness().loseKey(lease.key);
      expect(await settle(lease)).toEqual({ kind: 'not-held' });
      expect(await effects().find(lease.key)).toMatchObject({ state: 'started' });
    });

    it('takes no result, and forgets nothing, for a holder whom another one follows', async () => {
      const { dead, next } = await crashed();
      expect(await settle(dead)).toEqual({ kind: 'not-held' });
      expect(await settle(dead, { outcome: 'undone' })).toEqual({ kind: 'not-held' });
      expect(await settle(next)).toEqual({ kind: 'not-held' });
      await begin(next, true);
      expect(await settle(dead)).toEqual({ kind: 'not-held' });
      expect(await settle(next)).toEqual({ kind: 'settled' });
    });

    it('takes the result of a try whose beginning it has forgotten meanwhile', async () => {
      const lease = await take(harness().store, freshKey('effect'));
      await begin(lease, false, SHORT);
      await harness().advance(SHORT + 1);
      expect(await effects().find(lease.key)).toBeUndefined();
      expect(await settle(lease)).toEqual({ kind: 'settled' });
      expect(await effects().find(lease.key)).toMatchObject({ state: 'done', fencingToken: lease.fencingToken });
    });

    it('forgets a result when its time is over', async () => {
      const lease = await begun();
      await settle(lease, { keepMs: SHORT });
      await harness().advance(SHORT + 1);
      expect(await effects().find(lease.key)).toBeUndefined();
    });

    it('keeps the effects of different keys apart, odd ones included', async () => {
      const [one, other] = [await begun(freshKey('a{b}:effect')), await begun(freshKey('a{b}'))];
      await settle(one, { text: '1' });
      await settle(other, { text: '2' });
      expect((await effects().find(one.key))?.text).toBe('1');
      expect((await effects().find(other.key))?.text).toBe('2');
    });

    if (features.foreign) {
      it('says that something foreign lies under the key of the lease', async () => {
        const { putForeign } = harness();
        const key = freshKey('foreign');
        await putForeign?.(key);
        expect(await storeErrorKind(effects().start({ key, holderId: 'h', keepMs: 1000, rerun: false }))).toBe('foreign');
      });
    }

    if (features.immortal) {
      it('leaves nothing behind that has no end', async () => {
        await settle(await begun());
        await begun();
        expect(await harness().immortal?.()).toEqual([]);
      });
    }
  });
}
