import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import type { Lease } from '../../../lib/lease/lease.js';
import { RedisLeaseStore } from '../../../lib/stores/redis/redis-lease-store.js';
import { command } from '../../support/topologies/command.js';
import { SentinelGroup } from '../../support/topologies/sentinel-group.js';
import { renewedSince, Services } from '../../support/topologies/services.js';
import { waitFor } from '../../support/wait-for.js';

jest.setTimeout(90_000);

describe('leases on Sentinel', () => {
  const services = new Services();
  let group: SentinelGroup;
  beforeAll(async () => (group = await SentinelGroup.start()));
  afterAll(() => group?.stop());

  /** The ways to give a connection. The ready clients do not watch for failovers themselves; our duplicates of them do. */
  const ways = (): [string, Parameters<Services['start']>[0]][] => [
    ['options', group.connection],
    ['a ready client of ioredis 6', services.client(new Redis(group.connection))],
    ['a ready client of ioredis 5', services.client(new Redis5(group.connection))],
  ];

  it('survive a planned failover, however the connection is given; the scripts are unknown to the new primary (ioredis#58, nestjs-redis#15)', async () => {
    await group.settle();
    for (const replica of await group.replicas()) await command(replica, 'SCRIPT', 'FLUSH');
    const held = await Promise.all(
      ways().map(async ([, connection]) => {
        const a = services.start(connection);
        const key = services.key();
        return { a, key, lease: await a.service.acquire(key, { ttl: 8 }) };
      }),
    );
    await group.inStep();
    const primary = await group.failover();
    const at = performance.now();
    for (const { a, key, lease } of held) {
      await waitFor(() => renewedSince(a, lease).then(() => true));
      expect(String(await command(primary, 'GET', services.leaseKey(key)))).toContain(lease.holderId);
      // A connection to the old primary would be told READONLY at best.
      const next = await a.service.acquire(services.key(), { ttl: 8, wait: 5 });
      expect(await next.release()).toBe(true);
      expect(await lease.release()).toBe(true);
      expect(a.types()).not.toContain('lost');
    }
    expect(performance.now() - at).toBeLessThan(4000);
  });

  it('survive the death of the primary, and are still refused to others; the next token is higher', async () => {
    await group.settle();
    const [a, b] = [services.start(group.connection), services.start(group.connection)];
    const key = services.key();
    const lease = await a.service.acquire(key, { ttl: 20 });
    await group.inStep();
    const old = await group.primary();
    await group.killPrimary();
    await waitFor(() => renewedSince(a, lease).then(() => true), { timeoutMs: 10_000, message: 'a renewal at the new primary' });
    expect(await b.service.tryAcquire(key)).toBeUndefined();
    expect(await lease.release()).toBe(true);
    expect((await b.service.acquire(key, { wait: 5 })).fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(a.types()).not.toContain('lost');
    await old.restart();
  });

  it('the line of waiters survives the death of the primary too: everybody is served, in order', async () => {
    await group.settle();
    const [a, b, c] = [services.start(group.connection), services.start(group.connection), services.start(group.connection)];
    const key = services.key();
    const held = await c.service.acquire(key, { ttl: 20 });
    const served: number[] = [];
    const waiting: Promise<Lease>[] = [];
    for (let i = 0; i < 6; i++) {
      const one = (i % 2 ? a : b).service.acquire(key, { ttl: 20, wait: 60 });
      waiting.push(one);
      void one.then(async (lease) => {
        served.push(i);
        await lease.release();
      });
      await waitFor(async () => (await c.service.inspect(key))?.waiters === i + 1);
    }
    await group.inStep();
    const old = await group.primary();
    await group.killPrimary();
    await waitFor(() => renewedSince(c, held).then(() => true), { timeoutMs: 10_000 });
    const at = performance.now();
    await held.release();
    await Promise.all(waiting);
    await waitFor(() => served.length === 6);
    expect(served).toEqual([0, 1, 2, 3, 4, 5]);
    expect(performance.now() - at).toBeLessThan(8000);
    await old.restart();
  });

  it('a primary that is restarted without its data, before anybody misses it: the holder learns it at its next renewal, the next token is higher', async () => {
    await group.settle();
    const [a, b] = [services.start(group.connection), services.start(group.connection)];
    const key = services.key();
    const lease = await a.service.acquire(key, { ttl: 6 });
    const primary = await group.primary();
    await primary.restart({ empty: true });
    expect(await group.primary()).toBe(primary);
    expect(await lease.lost).toMatchObject({ reason: 'expired' });
    expect((await b.service.acquire(key, { wait: 5 })).fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('a store that is closed while it connects leaves no connection to a sentinel behind', async () => {
    await group.settle();
    // The moment between the answer of the sentinel and the connection to the primary: there is a socket, and it is not connected.
    const connecting = async (client: unknown): Promise<void> => {
      const { connector } = client as { connector: { stream?: { connecting: boolean } } };
      while (connector.stream?.connecting !== true) await new Promise((resolve) => setImmediate(resolve));
    };
    const store = new RedisLeaseStore({ connection: group.connection });
    const call = store.ping().catch(() => undefined);
    await connecting(store['connection']['client']);
    await store.close();
    await call;
    const subscription = new RedisLeaseStore({ connection: group.connection }).onWake('p', () => undefined);
    await connecting((subscription as unknown as { client: unknown }).client);
    subscription.unsubscribe();
    const left = async (): Promise<number> => {
      const lists = await Promise.all(group.sentinels.map((sentinel) => command(sentinel, 'CLIENT', 'LIST')));
      // Sentinels subscribe to their nodes, and nobody but us to them.
      return lists.join('\n').split('sub=1').length - 1;
    };
    await new Promise((resolve) => setTimeout(resolve, 100));
    await waitFor(async () => (await left()) === 0, { message: 'no subscription at a sentinel' });
  });
});
