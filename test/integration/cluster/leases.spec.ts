import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import type { Lease } from '../../../lib/lease/lease.js';
import { rejection } from '../../support/attack-rig.js';
import { command } from '../../support/topologies/command.js';
import { RedisCluster } from '../../support/topologies/redis-cluster.js';
import { renewedSince, Services } from '../../support/topologies/services.js';
import { waitFor } from '../../support/wait-for.js';

jest.setTimeout(90_000);

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('leases in a Cluster of six nodes', () => {
  const services = new Services();
  let cluster: RedisCluster;
  beforeAll(async () => (cluster = await RedisCluster.start()));
  afterAll(() => cluster?.stop());

  const ways = (): [string, Parameters<Services['start']>[0]][] => [
    ['options', cluster.connection],
    ['a ready client of ioredis 6', services.client(new Cluster(cluster.addresses))],
    ['a ready client of ioredis 5', services.client(new Cluster5(cluster.addresses))],
  ];

  it('any name, however the connection is given: no CROSSSLOT in acquire, renew, inspect, release (spring-integration#10546, redisson#1098, redislock#94)', async () => {
    const strange = ['a{b}c', '{}', '}{', '{{x}}', 'ключ', 'a b\n', '\u0000', '👩‍🚀', '{user}:1'];
    for (const [, connection] of ways()) {
      const a = services.start(connection);
      const names = [...strange, ...upTo(300).map(() => `${Math.random().toString(36)}{${Math.random().toString(36)}`)];
      const leases = await Promise.all(names.map((name) => a.service.acquire(name)));
      await Promise.all(leases.map((lease) => lease.renew()));
      const seen = await Promise.all(names.map((name) => a.service.inspect(name)));
      expect(seen.map((record) => record?.fencingToken)).toEqual(leases.map(({ fencingToken }) => fencingToken));
      expect(await Promise.all(leases.map((lease) => lease.release()))).toEqual(names.map(() => true));
    }
  });

  it('respects keyPrefix, also inside redisOptions, and auto-pipelining of the user’s client (ioredis#1933, ioredis#1511)', async () => {
    const options = [{ keyPrefix: 'app:' }, { redisOptions: { keyPrefix: 'app:' } }, { keyPrefix: 'app:', enableAutoPipelining: true }];
    const bare = services.start(cluster.connection);
    for (const Client of [Cluster, Cluster5]) {
      for (const one of options) {
        const a = services.start(services.client(new Client(cluster.addresses, one as object)));
        const names = upTo(20).map(() => services.key());
        const leases = await Promise.all(names.map((name) => a.service.acquire(name)));
        for (const [i, lease] of leases.entries()) {
          const key = `app:${services.leaseKey(lease.key)}`;
          expect(String(await command(await cluster.primaryOf(key), 'GET', key))).toContain(lease.holderId);
          if (i > 2) break;
        }
        await Promise.all(leases.map((lease) => lease.renew()));
        expect(await bare.service.inspect(names[0] as string)).toBeUndefined();
        expect(await a.service.inspect(names[0] as string)).toMatchObject({ key: names[0] });
        expect(await Promise.all(leases.map((lease) => lease.release()))).toEqual(names.map(() => true));
      }
    }
  });

  it('never reads from replicas, though the user’s client does (ioredis#1583)', async () => {
    for (const Client of [Cluster, Cluster5]) {
      const a = services.start(services.client(new Client(cluster.addresses, { scaleReads: 'slave' })));
      const key = services.key();
      for (let i = 0; i < 60; i++) {
        const lease = await a.service.acquire(key);
        expect((await a.service.inspect(key))?.fencingToken).toBe(lease.fencingToken);
        await lease.release();
        expect(await a.service.inspect(key)).toBeUndefined();
      }
    }
    const replicas = await Promise.all(upTo(6).map(async (i) => command(cluster.nodes[i] as never, 'INFO', 'commandstats')));
    const primaries = new Set((await cluster.primaries()).map((node) => cluster.nodes.indexOf(node)));
    for (const [i, stats] of replicas.entries()) if (!primaries.has(i)) expect(String(stats)).not.toMatch(/cmdstat_(evalsha|eval):/);
  });

  it('survive SCRIPT FLUSH on all nodes between any two calls (ioredis#1438)', async () => {
    const a = services.start(cluster.connection);
    const flush = async (): Promise<unknown> => Promise.all((await cluster.primaries()).map((node) => command(node, 'SCRIPT', 'FLUSH')));
    const leases = await Promise.all(upTo(9).map(() => a.service.acquire(services.key())));
    await flush();
    await Promise.all(leases.map((lease) => lease.renew()));
    await flush();
    expect(await Promise.all(leases.map((lease) => lease.release()))).not.toContain(false);
    expect(a.types()).not.toContain('jeopardy');
  });

  it('survive a planned failover and the death of a primary; the other shards do not notice', async () => {
    const a = services.start(cluster.connection);
    const leases = await Promise.all(upTo(12).map(() => a.service.acquire(services.key(), { ttl: 15 })));
    const [first] = leases as [Lease];
    const key = services.leaseKey(first.key);
    await cluster.failover(key);
    await Promise.all(leases.map((lease) => lease.renew()));
    await cluster.settle();
    const dead = await cluster.primaryOf(key);
    await dead.kill();
    const elsewhere: Lease[] = [];
    for (const lease of leases) if ((await cluster.primaryOf(services.leaseKey(lease.key))) !== dead) elsewhere.push(lease);
    expect(elsewhere.length).toBeGreaterThan(0);
    await Promise.all(elsewhere.map((lease) => lease.renew()));
    await cluster.promoted(key, dead);
    for (const lease of leases) await waitFor(() => renewedSince(a, lease).then(() => true), { timeoutMs: 8000 });
    const next = await a.service.acquire(services.key(), { wait: 5 });
    expect(await Promise.all([...leases, next].map((lease) => lease.release()))).not.toContain(false);
    expect(a.types()).not.toContain('lost');
    await dead.restart();
    await cluster.settle();
  });

  it('a single node of a Cluster given as if it were all: said at once, and never “busy” (node-redlock#294, node-redlock#23, node-redlock#29)', async () => {
    const key = services.key();
    const owner = await cluster.primaryOf(services.leaseKey(key));
    const other = (await cluster.primaries()).find((node) => node !== owner);
    const a = services.start(other?.url);
    const start = performance.now();
    const error = await rejection(a.service.acquire(key, { wait: 20 }));
    expect(error).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    expect(error.message).toContain('{ cluster: { nodes:');
    expect(performance.now() - start).toBeLessThan(5000);
    // Several at once meet another error of Redis (CROSSSLOT), and are told the same.
    const several = await Promise.all(upTo(20).map(() => rejection(a.service.acquire(services.key()))));
    for (const { message } of several) expect(message).toContain('{ cluster: { nodes:');
  });
});
