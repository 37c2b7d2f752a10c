import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Lease } from '../../../lib/lease/lease.js';
import { slotOf } from '../../../lib/stores/redis/slots.js';
import { rejection } from '../../support/attack-rig.js';
import { RedisCluster } from '../../support/topologies/redis-cluster.js';
import { renewedSince, Services } from '../../support/topologies/services.js';
import { waitFor } from '../../support/wait-for.js';

jest.setTimeout(90_000);

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('a slot that moves from one primary to another while its leases are in use (redisson#612, redisson#4822)', () => {
  const services = new Services();
  let cluster: RedisCluster;
  beforeAll(async () => (cluster = await RedisCluster.start({ replicas: 0 })));
  afterAll(() => cluster?.stop());

  /** So many names whose leases share a slot. */
  function together(n: number): string[] {
    const seed = services.key();
    const slot = slotOf(services.leaseKey(seed));
    const names = [seed];
    for (let i = 0; names.length < n; i++) {
      const name = `${seed}-${String(i)}`;
      if (slotOf(services.leaseKey(name)) === slot) names.push(name);
    }
    return names;
  }

  it('50 leases are kept alive all the way: before, half-way (ASK), torn between two nodes (TRYAGAIN), and after (MOVED)', async () => {
    const a = services.start(cluster.connection);
    const moving = together(4);
    const names = [...moving, ...upTo(46).map(() => services.key())];
    const leases = await Promise.all(names.map((name) => a.service.acquire(name, { ttl: 6 })));
    const keys = moving.map((name) => services.leaseKey(name));
    const migration = await cluster.migration(keys[0] as string);
    const allRenewed = async (): Promise<void> => {
      await Promise.all(leases.map((lease) => renewedSince(a, lease)));
    };
    await migration.begin();
    await allRenewed();
    // Two of the leases are there as a whole, two are still here.
    await migration.moveKeys((key) => keys.slice(0, 2).some((one) => key === one || key === `${one}:fence`));
    await allRenewed();
    // The third is torn: its lease has moved, its fence not yet. That lasts longer than a renewal may take.
    await migration.moveKeys((key) => key === keys[2]);
    const renewals = a.store.calls('renew').length;
    await waitFor(() => a.store.calls('renew').length > renewals + 1, { timeoutMs: 8000 });
    for (const lease of leases) lease.assertHeld();
    await migration.moveKeys();
    await allRenewed();
    await migration.end();
    await allRenewed();
    expect(a.types()).not.toContain('lost');
    expect(await Promise.all(leases.map((lease) => lease.release()))).not.toContain(false);
  });

  it('acquire, release and hand-over go on as soon as the slot has arrived, in order, and nobody is left behind', async () => {
    const [a, b] = [services.start(cluster.connection), services.start(cluster.connection)];
    const [key, fresh] = together(2) as [string, string];
    const held = await a.service.acquire(key, { ttl: 20 });
    const served: number[] = [];
    const waiting: Promise<void>[] = [];
    for (const i of upTo(6)) {
      const one = (i % 2 ? a : b).service.acquire(key, { ttl: 20, wait: 60 });
      waiting.push(
        one.then(async (lease) => {
          served.push(i);
          await lease.release();
        }),
      );
      await waitFor(async () => (await a.service.inspect(key))?.waiters === i + 1);
    }
    const migration = await cluster.migration(services.leaseKey(key));
    await migration.begin();
    await migration.moveKeys((one) => one === services.leaseKey(key));
    const [busy, free] = [a.service.acquire(key, { wait: 30 }), b.service.acquire(fresh, { wait: 30 })];
    const freed = held.release();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await migration.end();
    await Promise.all([...waiting, freed]);
    expect(served).toEqual(upTo(6));
    expect(await (await free).release()).toBe(true);
    expect(await (await busy).release()).toBe(true);
  });

  it('a slot whose migration stands still: a new lease is unavailable in its time, and one that is held stays', async () => {
    const a = services.start(cluster.connection, { commandTimeout: '1s' });
    const [key, fresh] = together(2) as [string, string];
    const held = await a.service.acquire(key, { ttl: 6 });
    const migration = await cluster.migration(services.leaseKey(key));
    await migration.begin();
    const start = performance.now();
    expect(await rejection(a.service.acquire(fresh))).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    expect(performance.now() - start).toBeLessThan(3000);
    await renewedSince(a, held);
    await migration.end();
    const next: Lease = await a.service.acquire(fresh, { wait: 10 });
    expect(await next.release()).toBe(true);
    expect(await held.release()).toBe(true);
  });
});
