import { beforeEach, describe, expect, it } from '@jest/globals';
import { ask, Rig, take } from './rig.js';

describe('round trips of a Redis store', () => {
  const rig = new Rig();
  beforeEach(async () => void (await rig.client.config('RESETSTAT')));
  const scripts = async (): Promise<number> => (await rig.commands()).evalsha ?? 0;

  it('are two for an uncontended cycle', async () => {
    const store = rig.store();
    await store.release(await take(store));
    await rig.client.config('RESETSTAT');
    await store.release(await take(store));
    const { evalsha, eval: evals } = await rig.commands();
    expect([evalsha, evals]).toEqual([2, undefined]);
  });

  it('are one for 32 that are asked in one turn, and each has its own outcome', async () => {
    const store = rig.store();
    await store.ping();
    await store.release(await take(store));
    await rig.client.config('RESETSTAT');
    const requests = [...Array.from({ length: 30 }, () => ask()), ask('same'), ask('same')];
    const results = await Promise.all(requests.map((request) => store.acquire(request)));
    expect(results.map(({ kind }) => kind)).toEqual([...Array<string>(31).fill('granted'), 'busy']);
    expect(await scripts()).toBe(1);
    const releases = await Promise.all(requests.map((request) => store.release({ ...request, fencingToken: 1 })));
    expect(releases.filter(({ kind }) => kind === 'released')).toHaveLength(31);
    expect(await scripts()).toBe(2);
  });

  it('are four for each cycle of 64 workers, not 128', async () => {
    const store = rig.store();
    const worker = async (): Promise<void> => {
      for (let i = 0; i < 10; i++) await store.release(await take(store));
    };
    await Promise.all(Array.from({ length: 64 }, worker));
    expect(await scripts()).toBeLessThanOrEqual(60);
  });

  it('carry a hundred leases each', async () => {
    const store = rig.store();
    const leases = await Promise.all(Array.from({ length: 1000 }, () => take(store)));
    await rig.client.config('RESETSTAT');
    expect((await store.renew(leases)).filter(({ kind }) => kind === 'held')).toHaveLength(1000);
    expect(await scripts()).toBeLessThanOrEqual(11);
  });

  it('keep the order of what is asked of one key in one turn', async () => {
    const store = rig.store();
    const first = await take(store);
    const second = ask(first.key);
    const [released, granted, , again] = await Promise.all([
      store.release(first),
      store.acquire(second),
      store.leave(second),
      store.acquire(ask(first.key)),
    ]);
    expect([released.kind, granted.kind, again.kind]).toEqual(['released', 'granted', 'granted']);
  });

  it('fail alone: one bad lease of a batch concerns no other', async () => {
    const store = rig.store();
    await rig.client.set('lease:{bad}', 'not a lease');
    const far = Date.now() * 1000 + 2 * 86_400_000_000;
    const results = await Promise.allSettled(
      [ask(), ask('bad'), ask(undefined, { floor: far }), ask('')].map((request) => store.acquire(request)),
    );
    expect(results).toMatchObject([
      { status: 'fulfilled', value: { kind: 'granted' } },
      { status: 'rejected', reason: { kind: 'foreign' } },
      { status: 'rejected', reason: { kind: 'floor' } },
      { status: 'rejected', reason: { code: 'LEASE_KEY_INVALID' } },
    ]);
  });
});
