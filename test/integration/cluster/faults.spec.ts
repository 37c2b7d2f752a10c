import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { rejection } from '../../support/attack-rig.js';
import { Auditor } from '../../support/auditor.js';
import { startHolderProcess } from '../../support/rival.js';
import type { RedisServer } from '../../support/redis-server.js';
import { command } from '../../support/topologies/command.js';
import { NodeProxies } from '../../support/topologies/node-proxies.js';
import { RedisCluster } from '../../support/topologies/redis-cluster.js';
import { Services } from '../../support/topologies/services.js';
import { waitFor } from '../../support/wait-for.js';

jest.setTimeout(90_000);

describe('faults of a Cluster', () => {
  const services = new Services();
  let cluster: RedisCluster;
  let proxies: NodeProxies;
  let auditor: Auditor;
  beforeAll(async () => {
    [cluster, auditor] = await Promise.all([RedisCluster.start({ replicas: 0 }), Auditor.start()]);
    proxies = await NodeProxies.start(cluster.nodes);
  });
  afterEach(() => {
    for (const proxy of proxies.all) proxy.pass();
  });
  afterAll(async () => {
    await proxies?.stop();
    await cluster?.stop();
    await auditor?.stop();
  });

  it('a holder is cut off for longer than its ttl while a rival waits: it stops before the rival starts, and its late write is refused', async () => {
    const [a, b] = [services.start(proxies.connection), services.start(cluster.connection)];
    const key = services.key();
    const lease = await a.service.acquire(key, { ttl: '1500ms' });
    let stoppedAt = 0;
    lease.signal.addEventListener('abort', () => (stoppedAt = performance.now()));
    const waiting = b.service.acquire(key, { ttl: 2, wait: 10 });
    for (const proxy of proxies.all) proxy.drop('request').drop('reply');
    const next = await waiting;
    const startedAt = performance.now();
    expect(stoppedAt).toBeGreaterThan(0);
    expect(startedAt).toBeGreaterThan(stoppedAt);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    const write = (by: typeof lease): boolean => {
      const { fencingToken: token, holderTag: holder } = by;
      return auditor.ask({ op: 'write', resource: key, token, holder }).accepted;
    };
    expect([write(next), write(lease)]).toEqual([true, false]);
    for (const proxy of proxies.all) proxy.pass();
    await lease.release();
    next.assertHeld();
    expect(await next.release()).toBe(true);
  });

  it('a process stands still for two ttls: what it does first when it goes on is no write, and nothing is renewed', async () => {
    const key = services.key();
    const holder = startHolderProcess(auditor, { connection: cluster.connection, name: 'a', key, ttl: '1s' });
    try {
      await holder.message('writing', { timeoutMs: 20_000 });
      holder.freeze();
      const next = await services.start(cluster.connection).service.acquire(key, { wait: 10 });
      const { fencingToken: token, holderTag } = next;
      expect(auditor.ask({ op: 'write', resource: key, token, holder: holderTag }).accepted).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      holder.thaw();
      const stopped = await holder.message('stopped');
      expect(stopped).toMatchObject({ code: 'LEASE_LOST', aborted: true });
      // A request that was on its way when it stood still may arrive; it is of the old token.
      expect(auditor.interleaved(key).every(({ accepted }) => !accepted)).toBe(true);
      expect(await next.release()).toBe(true);
    } finally {
      await holder.kill();
    }
  });

  it('a primary without a replica dies (CLUSTERDOWN), and comes back empty: no call hangs, its holders are lost, the next token is higher', async () => {
    const a = services.start(cluster.connection, { commandTimeout: '800ms' });
    const key = services.key();
    const lease = await a.service.acquire(key, { ttl: 8 });
    const dead = await cluster.primaryOf(services.leaseKey(key));
    await dead.kill();
    const other = cluster.nodes.find((node) => node !== dead) as RedisServer;
    const down = async (): Promise<boolean> => String(await command(other, 'CLUSTER', 'INFO')).includes('cluster_state:fail');
    await waitFor(down, { timeoutMs: 15_000, message: 'the Cluster to be down' });
    // Whoever has the slot: the Cluster serves nothing while a slot has nobody.
    for (let i = 0; i < 3; i++) {
      const start = performance.now();
      expect(await rejection(a.service.acquire(services.key(), { ttl: 8 }))).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
      expect(performance.now() - start).toBeLessThan(2500);
    }
    await dead.restart({ empty: true });
    await cluster.settle();
    expect(['expired', 'store']).toContain((await lease.lost).reason);
    const next = await services.start(cluster.connection).service.acquire(key, { wait: 15 });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(await next.release()).toBe(true);
  });

  it.each([
    ['ioredis 6', Cluster],
    ['ioredis 5', Cluster5],
  ])(
    '%s with nothing reachable and settings that keep commands for ever: every call settles within its own limit (ioredis#1604, ioredis#2193)',
    async (_, Client) => {
      const { nodes, options } = proxies.connection.cluster;
      const hanging = { maxRetriesPerRequest: null, autoResendUnfulfilledCommands: false };
      const client = services.client(new Client(nodes, { ...options, enableOfflineQueue: true, redisOptions: hanging }));
      const a = services.start(client, { commandTimeout: '400ms' });
      const within = async (limitMs: number, call: Promise<unknown>): Promise<unknown> => {
        const start = performance.now();
        const outcome = await call.catch((error: unknown) => (error as { code: string }).code);
        expect(performance.now() - start).toBeLessThan(limitMs);
        return outcome;
      };
      const lease = await a.service.acquire(services.key(), { ttl: 2, wait: 5 });
      for (const proxy of proxies.all) proxy.refuse().cut();
      expect(await within(1500, a.service.acquire(services.key()))).toBe('LEASE_UNAVAILABLE');
      expect(await within(1500, a.service.inspect('k'))).toBe('LEASE_UNAVAILABLE');
      expect(await within(2500, lease.renew())).toBe('LEASE_LOST');
      expect(await within(1500, lease.release())).toBe(false);
      for (const proxy of proxies.all) proxy.pass();
      const again = await a.service.acquire(services.key(), { wait: 10 });
      expect(await again.release()).toBe(true);
    },
  );
});
