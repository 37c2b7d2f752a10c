import { describe, expect, it } from '@jest/globals';
import type { FirstGranted, FirstRequest, JobStore, NoneFree } from '../../../lib/stores/job-store.js';
import { ask, freshKey, LONG, SHORT, storeErrorKind, take, type Features, type StoreHarness } from './harness.js';

/** The suite of stores that choose among leases for job workers. */
export function jobsContract(harness: () => StoreHarness, features: Features): void {
  const inOrder = features.jobsInOrder !== false;
  const jobs = (): JobStore => harness().store.jobs as JobStore;
  const rival = (): JobStore => harness().rival.jobs as JobStore;
  const keys = (n: number): string[] => Array.from({ length: n }, () => freshKey('job'));
  const request = (candidates: readonly string[], ttlMs = LONG): FirstRequest => {
    const { holderId, holderTag, holder } = ask('');
    return { candidates: candidates.map((key) => ({ key })), holderId, holderTag, holder, ttlMs };
  };
  const granted = (reply: FirstGranted | NoneFree): FirstGranted => {
    if (reply.kind !== 'granted') throw new Error('Expected a grant.');
    return reply;
  };
  const held = async (key: string): Promise<string | undefined> => (await harness().store.inspect(key))?.holderTag;

  describe('jobs', () => {
    it('grants the first lease that is free (where it cannot tell, any), and no other', async () => {
      const all = keys(3);
      await take(harness().store, all[0]!);
      const asked = request(all);
      const reply = granted(await rival().acquireFirst(asked));
      expect(reply).toMatchObject({ index: inOrder ? 1 : expect.any(Number), ttlMs: LONG });
      const taken = all[reply.index]!;
      expect(await harness().store.inspect(taken)).toMatchObject({ holderTag: asked.holderTag, fencingToken: reply.fencingToken });
      expect(await Promise.all(all.map(async (key) => key === taken || (await held(key)) !== asked.holderTag))).toEqual([true, true, true]);
    });

    it('grants none when all are held', async () => {
      const all = keys(3);
      for (const key of all) await take(harness().store, key);
      expect(await jobs().acquireFirst(request(all))).toEqual({ kind: 'busy' });
    });

    it('gives different leases to all who ask for the same list at the same moment', async () => {
      const all = keys(20);
      const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? jobs() : rival()).acquireFirst(request(all))));
      expect(new Set(replies.map((reply) => granted(reply).index)).size).toBe(20);
    });

    it('looks at very many', async () => {
      const all = keys(250);
      const busy = all.slice(0, 240).map((key) => take(harness().store, key));
      await Promise.all(busy);
      const { index } = granted(await rival().acquireFirst(request(all)));
      if (inOrder) expect(index).toBe(240);
      else expect(index).toBeGreaterThanOrEqual(240);
    });

    it('grants the same holder the same lease again, also when one in front of it has become free', async () => {
      const [front, second] = keys(2) as [string, string];
      const other = await take(harness().store, front);
      const asked = request([front, second]);
      const first = granted(await jobs().acquireFirst(asked));
      await harness().store.release(other);
      expect(granted(await jobs().acquireFirst(asked))).toMatchObject({ index: 1, fencingToken: first.fencingToken });
      expect(await held(front)).toBeUndefined();
    });

    it('gives a token above the floor of the very lease', async () => {
      const all = keys(2);
      const now = (await take(harness().store, freshKey())).fencingToken;
      if (!inOrder) await take(harness().store, all[1]!);
      const asked = request(all);
      const candidates = [{ key: all[0]!, floor: now + 1_000_000_000 }, asked.candidates[1]!];
      expect(granted(await jobs().acquireFirst({ ...asked, candidates })).fencingToken).toBe(now + 1_000_000_001);
    });

    it('leaves a key taken by nobody for a while, and grants a higher token after it', async () => {
      const lease = await take(harness().store, freshKey('job'));
      expect(await jobs().coolDown({ ...lease, cooldownMs: SHORT })).toEqual({ kind: 'released' });
      expect(await harness().rival.inspect(lease.key)).toMatchObject({ state: 'cooldown', holderTag: lease.holderTag });
      expect(await rival().acquireFirst(request([lease.key]))).toEqual({ kind: 'busy' });
      expect(await harness().rival.acquire(ask(lease.key))).toMatchObject({ kind: 'busy' });
      await harness().advance(SHORT + 1);
      expect(granted(await rival().acquireFirst(request([lease.key]))).fencingToken).toBeGreaterThan(lease.fencingToken);
    });

    it('takes a cooldown that is longer than the ttl', async () => {
      const lease = await take(harness().store, freshKey('job'), { ttlMs: SHORT });
      await jobs().coolDown({ ...lease, cooldownMs: LONG });
      await harness().advance(SHORT + 1);
      const left = (await harness().store.inspect(lease.key))?.remainingMs;
      expect(left).toBeGreaterThan(LONG - 2 * SHORT - harness().slackMs);
      expect(left).toBeLessThanOrEqual(LONG);
    });

    it('cools nothing down that is not ours, and a repeated call changes nothing', async () => {
      const lease = await take(harness().store, freshKey('job'));
      expect(await jobs().coolDown({ ...lease, holderId: 'other', cooldownMs: LONG })).toEqual({ kind: 'not-held' });
      expect(await held(lease.key)).toBe(lease.holderTag);
      await jobs().coolDown({ ...lease, cooldownMs: SHORT });
      expect(await jobs().coolDown({ ...lease, cooldownMs: LONG })).toEqual({ kind: 'not-held' });
      await harness().advance(SHORT + 1);
      expect(await held(lease.key)).toBeUndefined();
    });

    it('ends a cooldown when an operator says so', async () => {
      const lease = await take(harness().store, freshKey('job'));
      await jobs().coolDown({ ...lease, cooldownMs: LONG });
      await harness().store.forceRelease(lease.key);
      expect(granted(await jobs().acquireFirst(request([lease.key]))).fencingToken).toBeGreaterThan(lease.fencingToken);
    });

    if (features.foreign) {
      it('passes over what holds something foreign, and says so where nothing else is free', async () => {
        const [strange, free] = [freshKey('foreign'), freshKey('job')];
        await harness().putForeign?.(strange);
        expect(granted(await jobs().acquireFirst(request([strange, free]))).index).toBe(1);
        expect(await storeErrorKind(jobs().acquireFirst(request([strange, free])))).toBe('foreign');
      });
    }

    if (features.immortal) {
      it('leaves nothing behind that has no end', async () => {
        const lease = await take(harness().store, freshKey('job'));
        await jobs().coolDown({ ...lease, cooldownMs: LONG });
        await jobs().acquireFirst(request(keys(2)));
        expect(await harness().immortal?.()).toEqual([]);
      });
    }
  });
}
