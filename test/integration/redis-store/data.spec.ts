import { describe, expect, it } from '@jest/globals';
import { ask, errorOf, Rig, take } from './rig.js';

const DAY_MS = 86_400_000;

describe('what a Redis store keeps', () => {
  const rig = new Rig();

  it('is two keys for each lease, both with an end at every moment', async () => {
    const store = rig.store({ namespace: 'ends' });
    const monitor = await rig.client.monitor();
    const writes: string[][] = [];
    monitor.on('monitor', (_time: string, args: string[]) => void writes.push(args));
    const held = await take(store);
    await store.renew([held, { ...held, ttlMs: 60_000 }]);
    await store.acquire({ ...held, ttlMs: 90_000 });
    await rig.client.del(`ends:{${held.key}}:fence`);
    await store.release(held);
    await store.forceRelease((await take(store)).key);
    await rig.client.ping();
    monitor.disconnect();
    const sets = writes.filter(([name]) => name?.toLowerCase() === 'set');
    expect(sets.length).toBeGreaterThanOrEqual(6);
    for (const set of sets) expect(set).toContain('PX');
    for (const key of await rig.client.keys('ends:*')) expect(await rig.client.pttl(key)).toBeGreaterThan(0);
  });

  it('remembers the token for fenceRetention after the end of the lease, and at most twice as long', async () => {
    const store = rig.store({ fenceRetentionMs: 100_000 });
    const [short, long] = [await take(store), await take(store, undefined, { ttlMs: 80_000 })];
    const life = (key: string): Promise<number> => rig.client.pttl(`lease:{${key}}:fence`);
    expect(await life(short.key)).toBeGreaterThan(90_000);
    expect(await life(short.key)).toBeLessThanOrEqual(200_000);
    expect(await life(long.key)).toBeGreaterThan(170_000);
    for (const refresh of [() => store.renew([short]), () => store.acquire(short)]) {
      await rig.client.pexpire(`lease:{${short.key}}:fence`, 1000);
      await refresh();
      // What the end of the lease leaves is enough even if it ends with its whole ttl.
      expect(await life(short.key)).toBeGreaterThan(100_000 + short.ttlMs - 1000);
    }
    expect(await store.release(short)).toEqual({ kind: 'released' });
    expect(await life(short.key)).toBeGreaterThan(100_000);
  });

  it('gives a token that ran ahead of the clock, and a long ttl, more than that', async () => {
    const store = rig.store({ fenceRetentionMs: 1000 });
    const life = (key: string): Promise<number> => rig.client.pttl(`lease:{${key}}:fence`);
    const long = await take(store, undefined, { ttlMs: 80_000 });
    expect(await life(long.key)).toBeGreaterThan(80_000);
    const ahead = await take(store, undefined, { floor: (Date.now() + 3_600_000) * 1000 });
    expect(await life(ahead.key)).toBeGreaterThan(3_600_000);
    await store.release(long);
    expect(await life(long.key)).toBeGreaterThan(1000);
  });

  it('keeps the holder id in the value only, and the description as it is', async () => {
    const store = rig.store();
    const holder = 'a b\n\u0000{"c":1} h 5';
    const held = await take(store, 'a strange {key}', { holderId: 'id with spaces', holderTag: 'tag with spaces', holder });
    expect(await store.inspect(held.key)).toMatchObject({ holder, holderTag: 'tag with spaces', key: held.key });
    expect(await store.renew([{ ...held, ttlMs: 50_000 }])).toMatchObject([{ kind: 'held' }]);
    expect(await store.inspect(held.key)).toMatchObject({ holder, holderTag: 'tag with spaces' });
    expect(await store.acquire(ask(held.key))).toMatchObject({ kind: 'busy', holder, holderTag: 'tag with spaces' });
    expect(await store.release(held)).toEqual({ kind: 'released' });
  });

  it.each(['text', 'list', 'hash', 'text like a lease'])(
    'names a key that holds a foreign %s, and leaves the others of the batch alone',
    async (kind) => {
      const store = rig.store();
      const key = `foreign-${kind}`;
      const at = `lease:{${key.replaceAll(' ', '~20')}}`;
      if (kind === 'list') await rig.client.rpush(at, '1');
      else if (kind === 'hash') await rig.client.hset(at, 'a', '1');
      else await rig.client.set(at, kind === 'text' ? 'hello' : 'id 12x 3 4 h tag holder');
      const [bad, good] = await Promise.allSettled([store.acquire(ask(key)), store.acquire(ask())]);
      expect(good).toMatchObject({ status: 'fulfilled', value: { kind: 'granted' } });
      expect(bad).toMatchObject({ status: 'rejected', reason: { name: 'StoreError', kind: 'foreign' } });
      expect(await errorOf(store.acquire(ask(key)))).toMatchObject({
        message: expect.stringContaining(`"${at}" in Redis holds something that is not a lease`) as unknown as string,
      });
      expect(await store.renew([{ ...ask(key), fencingToken: 1 }])).toMatchObject([{ kind: 'unknown', error: { kind: 'foreign' } }]);
      expect(await rig.client.exists(`${at}:fence`)).toBe(0);
      expect(await rig.client.pttl(at)).toBe(-1);
    },
  );

  it('leaves a fence of another type alone and grants nothing', async () => {
    const store = rig.store();
    await rig.client.rpush('lease:{list-fence}:fence', '1');
    expect(await errorOf(store.acquire(ask('list-fence')))).toMatchObject({
      kind: 'foreign',
      message: expect.stringContaining(':fence"') as unknown as string,
    });
    expect(await rig.client.exists('lease:{list-fence}')).toBe(0);
    expect(await rig.client.type('lease:{list-fence}:fence')).toBe('list');
  });

  it('puts right a remaining time above the ttl, so that a dead holder does not keep the lease (clock set back)', async () => {
    const store = rig.store();
    const held = await take(store);
    await rig.client.pexpire(`lease:{${held.key}}`, 3_600_000);
    expect(await store.inspect(held.key)).toMatchObject({ remainingMs: 30_000 });
    expect(await store.acquire(ask(held.key))).toMatchObject({ kind: 'busy', remainingMs: 30_000 });
    expect(await rig.client.pttl(`lease:{${held.key}}`)).toBeLessThanOrEqual(30_000);
    await rig.client.persist(`lease:{${held.key}}`);
    await store.acquire(ask(held.key));
    expect(await rig.client.pttl(`lease:{${held.key}}`)).toBeGreaterThan(0);
  });

  it('gives tokens exactly, where Lua would print 1.78e+15', async () => {
    const store = rig.store();
    await rig.client.set('lease:{exact}:fence', '9007199254730001', 'PX', DAY_MS);
    expect((await take(store, 'exact')).fencingToken).toBe(9007199254730002);
    expect(await rig.client.get('lease:{exact}:fence')).toBe('9007199254730002');
  });
});

describe('a Redis without memory', () => {
  const rig = new Rig();

  it('still renews, writes a longer ttl down, heals the fence and releases; acquires are transient (redisson#4822)', async () => {
    const store = rig.store();
    const [held, second] = [await take(store), await take(store)];
    await rig.client.config('SET', 'maxmemory', '1');
    expect(await errorOf(store.acquire(ask()))).toMatchObject({
      kind: 'transient',
      message: expect.stringContaining('OOM') as unknown as string,
    });
    expect(await store.acquire(ask(held.key))).toMatchObject({ kind: 'busy' });
    await rig.client.del(`lease:{${held.key}}:fence`);
    expect(await store.renew([{ ...held, ttlMs: 60_000 }, second])).toMatchObject([{ kind: 'held' }, { kind: 'held' }]);
    expect((await store.inspect(held.key))?.remainingMs).toBeGreaterThan(50_000);
    expect(await rig.client.get(`lease:{${held.key}}:fence`)).toBe(String(held.fencingToken));
    expect(await store.release(held)).toEqual({ kind: 'released' });
    await rig.client.config('SET', 'maxmemory', '0');
    await take(store, held.key);
  });
});
