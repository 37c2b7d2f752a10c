import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { WithLease } from '../../../lib/decorators/with-lease.decorator.js';
import { Lease } from '../../../lib/lease/lease.js';
import { bindLease } from '../../../lib/testing/bind-lease.js';
import { AttackRig, rejection } from '../../support/attack-rig.js';
import { waitFor } from '../../support/wait-for.js';

describe('whose lease it is, on Redis', () => {
  const rig = new AttackRig();

  it('owner identity is per call, not per process: one body at a time, a hundred times (murlock#33)', async () => {
    let [inside, most, ran] = [0, 0, 0];
    class Orders {
      @WithLease('order:<0>', { ttl: 60 })
      async run(_id: string): Promise<void> {
        most = Math.max(most, ++inside);
        ran += 1;
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
      }
    }
    const orders = bindLease(new Orders(), rig.attacked().service);
    for (let i = 0; i < 100; i++) {
      const both = await Promise.allSettled([orders.run('1'), orders.run('1')]);
      const refused = both.filter((one): one is PromiseRejectedResult => one.status === 'rejected');
      expect(refused.map(({ reason }) => reason.code)).toEqual(['LEASE_BUSY']);
    }
    expect([most, ran]).toEqual([1, 100]);
  });

  it('a renewal compares the owner: after a pause the next holder’s time is untouched (redbeat#127, redbeat#83)', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: '600ms' });
    rig.proxy.delay(700);
    const next = await b.service.acquire(key, { ttl: 3, wait: 3 });
    await waitFor(() => lease.signal.aborted);
    const before = await rig.pttl(key);
    // What A sent before its loss arrives now.
    await sleep(400);
    rig.proxy.pass();
    expect(await rig.ownerOf(key)).toBe(next.holderId);
    expect(await rig.pttl(key)).toBeLessThanOrEqual(Math.max(before, 3000));
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    next.assertHeld();
    await next.release();
  });

  it('a release after the end deletes nothing, and a third is busy (redis-lock#29, nexspence#223, redis-py#415, jedis-lock#2)', async () => {
    const [a, b, c] = [rig.attacked(), rig.rival(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: '300ms' });
    await rig.client.del(rig.leaseKey(key));
    const next = await b.service.acquire(key, { ttl: 5 });
    expect(await lease.release()).toBe(false);
    expect(await c.service.tryAcquire(key)).toBeUndefined();
    expect(await next.release()).toBe(true);
  });

  it('no lease can be made from its name: the secret is random for each acquisition (redsync#168)', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key);
    const { holderTag, fencingToken } = lease;
    for (const holderId of [key, holderTag, '', '*', lease.holderId.toUpperCase()]) {
      expect(await b.store.release({ key, holderId, fencingToken })).toEqual({ kind: 'not-held' });
    }
    expect(() => JSON.stringify(lease)).not.toThrow();
    expect(JSON.stringify(lease)).not.toContain(lease.holderId);
    const Made = Lease as unknown as new (key: string) => Lease;
    const forged = new Made(key);
    expect(() => forged.fencingToken).toThrow();
    expect(await lease.release()).toBe(true);
    const again = await a.service.acquire(key);
    expect(again.holderId).not.toBe(lease.holderId);
    await again.release();
  });

  it.each([
    ['deleted', 'expired'],
    ['overwritten by another owner', 'taken'],
  ])(
    'a holder is told when its key is %s, at its next renewal, and renews no more (kubernetes#23731, beats#34998)',
    async (how, reason) => {
      const [a, b] = [rig.attacked(), rig.rival()];
      const key = rig.key();
      const call = rejection(
        a.service.withLease(key, { ttl: 1 }, async (lease) => {
          await rig.client.del(rig.leaseKey(key));
          if (reason === 'taken') await b.service.acquire(key, { ttl: 5 });
          const told = performance.now();
          await lease.lost;
          expect(performance.now() - told).toBeLessThan(600);
          const renewals = a.store.calls('renew').length;
          await sleep(300);
          expect(a.store.calls('renew')).toHaveLength(renewals);
        }),
      );
      expect(await call).toMatchObject({ code: 'LEASE_LOST', reason });
      expect(a.types()).not.toContain('busy');
      expect(how).toBeTruthy();
    },
  );

  it('a wait ends with the full ttl, counted from the try that succeeded (node-redlock#296, node-redlock#299)', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await b.service.acquire(key, { ttl: 5 });
    const waiting = a.service.acquire(key, { ttl: 1, wait: 4 });
    await sleep(1200);
    await lease.release();
    const next = await waiting;
    expect(next.remainingMs()).toBeGreaterThan(700);
    next.assertHeld();
    expect(await rig.pttl(key)).toBeGreaterThan(700);
    expect(await next.release()).toBe(true);
  });

  it('a ttl below the round trip is an error that says so, and no lease that is lost at once (node-redlock#369)', async () => {
    const a = rig.attacked();
    await rig.warm(a);
    rig.proxy.delay(250, 'reply');
    const error = await rejection(a.service.acquire(rig.key(), { ttl: '100ms' }));
    expect(error).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    expect(a.types()).not.toContain('acquired');
    expect(a.types()).not.toContain('lost');
  });

  it('a release that finds the lease gone keeps the result, and says so once (node-redlock#153, node-redlock#65, node-redlock#131)', async () => {
    const a = rig.attacked();
    const key = rig.key();
    let again: boolean | undefined;
    const result = await a.service.withLease(key, { ttl: 5 }, async (lease) => {
      await rig.client.del(rig.leaseKey(key));
      setTimeout(() => void lease.release().then((freed) => (again = freed)), 20);
      return 42;
    });
    expect(result).toBe(42);
    await waitFor(() => again !== undefined);
    expect(again).toBe(false);
    expect(a.types().filter((type) => type === 'release-failed')).toHaveLength(1);
  });

  it('a release cut off gives the result at once, one warning, and the key is gone soon (DistributedLock#191)', async () => {
    const a = rig.attacked();
    const key = rig.key();
    const start = performance.now();
    const result = await a.service.withLease(key, { ttl: 10 }, () => {
      rig.proxy.refuse().cut();
      return 'done';
    });
    expect(result).toBe('done');
    expect(performance.now() - start).toBeLessThan(1500);
    expect(a.types().filter((type) => type === 'release-failed')).toHaveLength(1);
    rig.proxy.pass();
    await waitFor(async () => (await rig.ownerOf(key)) === undefined);
  });

  it.each([
    ['an error', new Error('conflict')],
    ['no error at all', undefined],
    ['a text', 'just a text'],
  ])('%s that the handler throws comes out as the very same, though the release fails too (node-redlock#369)', async (_, thrown) => {
    const a = rig.attacked();
    const call = a.service.withLease(rig.key(), { ttl: 2 }, () => {
      rig.proxy.refuse().cut();
      throw thrown;
    });
    expect(await rejection(call)).toBe(thrown);
  });

  it('ten thousand names leave only fences, each with an end, and a name used again gets a higher token (redisson#6510)', async () => {
    const a = rig.rival();
    const names = Array.from({ length: 10_000 }, (_, i) => `many:${String(i)}`);
    const first = await a.service.acquire('many:7');
    await first.release();
    await Promise.all(names.map((name) => a.service.withLease(name, () => undefined)));
    const keys = await rig.client.keys('attack:{many:*');
    expect(keys.filter((key) => !key.endsWith(':fence'))).toEqual([]);
    const ttls = await Promise.all(keys.map((key) => rig.client.pttl(key)));
    expect(Math.min(...ttls)).toBeGreaterThan(0);
    expect(Math.max(...ttls)).toBeLessThanOrEqual(25 * 3_600_000);
    const again = await a.service.acquire('many:7');
    expect(again.fencingToken).toBeGreaterThan(first.fencingToken);
    await again.release();
  });
});
