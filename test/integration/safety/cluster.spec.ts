import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { rejection } from '../../support/attack-rig.js';
import { startHolder, type Holder } from '../../support/holder.js';
import type { RedisServer } from '../../support/redis-server.js';
import { RedisCluster } from '../../support/topologies/redis-cluster.js';
import { waitFor } from '../../support/wait-for.js';
import type { LeaseModuleOptions } from '../../../lib/lease-module-options.js';

describe('durability and the guard against amnesia in a Cluster', () => {
  let cluster: RedisCluster;
  let client: Cluster;
  const holders: Holder[] = [];
  const start = (options: LeaseModuleOptions): Holder => {
    const holder = startHolder({ connection: cluster.connection, ttl: '1500ms', ...options });
    holders.push(holder);
    return holder;
  };
  const leaseKey = (key: string): string => `lease:{${key}}`;
  /** A key whose slot lies on this node, and one of another. */
  const keysOn = async (node: RedisServer): Promise<{ here: string; there: string }> => {
    const found: Record<string, string> = {};
    for (let i = 0; !(found.here && found.there); i++) {
      const key = `k${String(i)}`;
      found[(await cluster.primaryOf(leaseKey(key))) === node ? 'here' : 'there'] = key;
    }
    return found as { here: string; there: string };
  };
  beforeAll(async () => {
    cluster = await RedisCluster.start();
    client = new Cluster(cluster.addresses);
    client.on('error', () => undefined);
  }, 60_000);
  afterEach(async () => {
    for (const node of cluster.nodes) node.thaw();
    await Promise.all(holders.splice(0).map((holder) => holder.close()));
  });
  afterAll(async () => {
    client.disconnect();
    await cluster.stop();
  });

  it('a grant counts when the replica of its own node has it; other nodes go on', async () => {
    const a = start({ durability: { replicas: 1, timeout: '300ms' }, ttl: 20 });
    const [node] = (await cluster.primaries()) as [RedisServer];
    const { here, there } = await keysOn(node);
    const leases = await Promise.all(Array.from({ length: 40 }, (_, i) => a.service.acquire(`many-${String(i)}`)));
    await Promise.all(leases.map((lease) => lease.release()));
    const claimed = await a.engine.tryAcquireFirst([here, there], { ttlMs: 20_000, waitMs: 0 });
    await claimed?.release();
    const [replica] = (await cluster.replicasOf(leaseKey(here))) as [RedisServer];
    replica.freeze();
    const [refused, granted] = await Promise.all([rejection(a.service.acquire(here)), a.service.acquire(there)]);
    expect(refused).toMatchObject({ code: 'LEASE_NOT_DURABLE', confirmed: 0, required: 1 });
    granted.assertHeld();
    await granted.release();
    await waitFor(async () => (await client.exists(leaseKey(here))) === 0);
    replica.thaw();
  });

  it('respects the prefix of a ready client, also in the pipeline of a node', async () => {
    const prefixed = new Cluster(cluster.addresses, { keyPrefix: 'app:', lazyConnect: true });
    const a = start({ connection: prefixed, durability: { replicas: 1, timeout: '2s' }, ttl: 20 });
    const lease = await a.service.acquire('prefixed');
    expect(await client.exists('app:lease:{prefixed}')).toBe(1);
    expect(await a.service.inspect('prefixed')).toMatchObject({ fencingToken: lease.fencingToken });
    expect(await lease.release()).toBe(true);
  });

  it('a slot that has moved is followed', async () => {
    const a = start({ durability: { replicas: 1, timeout: '2s' }, amnesiaGuard: '1500ms' });
    const lease = await a.service.acquire('moving', { wait: 20 });
    await lease.release();
    const migration = await cluster.migration(leaseKey('moving'));
    await migration.begin();
    const waiting = a.service.acquire('moving', { wait: 20 });
    await migration.end();
    const next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await next.release();
  });

  it('the node whose primary was killed pauses, for a guard from then on; the others do not', async () => {
    const a = start({ amnesiaGuard: '2500ms' });
    const [node] = (await cluster.primaries()) as [RedisServer];
    const { here, there } = await keysOn(node);
    for (const key of [here, there]) await (await a.service.acquire(key, { wait: 20 })).release();
    a.seen.length = 0;
    await cluster.killPrimary(leaseKey(here));
    const since = performance.now();
    await (await a.service.acquire(there)).release();
    const next = await a.service.acquire(here, { wait: 20 });
    expect(performance.now() - since).toBeGreaterThan(1500);
    await next.release();
    expect(a.seen.filter(({ type }) => type === 'amnesia')).toMatchObject([{ reason: 'promoted', pauseMs: 2500 }]);
  });
});
