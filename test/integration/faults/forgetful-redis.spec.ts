import { describe, expect, it } from '@jest/globals';
import { AttackRig, rejection } from '../../support/attack-rig.js';

describe('a Redis that forgets', () => {
  const rig = new AttackRig();

  it('restarted without its data: the holder learns it at the next renewal, and the next token is higher', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: '2400ms' });
    await rig.server.restart({ empty: true });
    const error = await lease.lost;
    expect(error).toMatchObject({ code: 'LEASE_LOST', reason: 'expired', key });
    const next = await b.service.acquire(key, { ttl: 1, wait: 2 });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(await lease.release()).toBe(false);
    next.assertHeld();
    expect(await next.release()).toBe(true);
  });

  it('the lease key deleted: lost at the next renewal and not created again (RedLock.net#101)', async () => {
    const a = rig.attacked();
    const key = rig.key();
    const start = performance.now();
    const lease = await a.service.acquire(key, { ttl: 1 });
    await rig.client.del(rig.leaseKey(key));
    expect(await lease.lost).toMatchObject({ reason: 'expired' });
    expect(performance.now() - start).toBeLessThan(600);
    expect(await rig.pttl(key)).toBe(-2);
  });

  it('the fence deleted: the next renewal puts it back, and the next token is higher', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: 1 });
    await rig.client.del(rig.fenceKey(key));
    await lease.renew();
    lease.assertHeld();
    expect(Number(await rig.client.get(rig.fenceKey(key)))).toBe(lease.fencingToken);
    expect(await lease.release()).toBe(true);
    const next = await b.service.acquire(key, { ttl: 1 });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await next.release();
  });

  it('lease and fence deleted: lost, and the next token is higher all the same', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: '800ms' });
    await rig.client.del(rig.leaseKey(key), rig.fenceKey(key));
    const next = await b.service.acquire(key, { ttl: 1 });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(await lease.lost).toMatchObject({ reason: 'taken' });
    await next.release();
  });

  it('the fence evicted while the key is free: the next token is higher (valkey#2651)', async () => {
    const a = rig.attacked();
    const key = rig.key();
    const tokens: number[] = [];
    for (let i = 0; i < 5; i++) {
      const lease = await a.service.acquire(key);
      tokens.push(lease.fencingToken);
      await lease.release();
      await rig.client.del(rig.fenceKey(key));
    }
    expect([...new Set(tokens)].sort((x, y) => x - y)).toEqual(tokens);
  });

  it.each([
    ['FLUSHDB', (): unknown => rig.client.flushdb()],
    ['its time set to nothing', (): unknown => rig.client.pexpire(rig.leaseKey('short'), 1)],
    ['eviction of everything', (): unknown => evictAll()],
  ])('%s: lost at the next renewal, never later than the soft deadline', async (_, forget) => {
    const a = rig.attacked();
    const lease = await a.service.acquire('short', { ttl: 1 });
    const start = performance.now();
    await forget();
    const error = await lease.lost;
    expect(error.reason).toBe('expired');
    expect(performance.now() - start).toBeLessThan(700);
    expect(await rejection(lease.renew())).toBe(error);
  });

  async function evictAll(): Promise<void> {
    await rig.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await rig.client.config('SET', 'maxmemory', '1');
    // Whoever writes makes room first.
    await rig.client.set('pressure', 'x').catch(() => undefined);
    await rig.client.config('SET', 'maxmemory', '0');
    await rig.client.config('SET', 'maxmemory-policy', 'noeviction');
  }
});
