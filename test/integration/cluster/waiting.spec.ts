import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Cluster as Cluster5 } from 'ioredis5';
import type { Lease } from '../../../lib/lease/lease.js';
import type { Holder } from '../../support/holder.js';
import { command } from '../../support/topologies/command.js';
import { NodeProxies } from '../../support/topologies/node-proxies.js';
import { RedisCluster } from '../../support/topologies/redis-cluster.js';
import { Services } from '../../support/topologies/services.js';
import { waitFor } from '../../support/wait-for.js';

jest.setTimeout(90_000);

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('waiting in a Cluster', () => {
  const services = new Services();
  let cluster: RedisCluster;
  let proxies: NodeProxies;
  beforeAll(async () => {
    cluster = await RedisCluster.start();
    proxies = await NodeProxies.start(cluster.nodes);
  });
  afterAll(async () => {
    await proxies?.stop();
    await cluster?.stop();
  });

  /** Joins one after the other, in turn from each of the processes; each releases as soon as it is served. */
  async function line(key: string, processes: readonly Holder[], n: number): Promise<{ served: number[]; all: Promise<unknown> }> {
    const served: number[] = [];
    const waiting: Promise<unknown>[] = [];
    const look = services.start(cluster.connection);
    for (const i of upTo(n)) {
      const one: Promise<Lease> = (processes[i % processes.length] as Holder).service.acquire(key, { ttl: 20, wait: 60 });
      waiting.push(
        one.then((lease) => {
          served.push(i);
          return lease.release();
        }),
      );
      await waitFor(async () => (await look.service.inspect(key))?.waiters === i + 1, { message: 'one more waiter' });
    }
    return { served, all: Promise.all(waiting) };
  }

  it('is served in order, across processes and both ioredis, a hand-over taking milliseconds', async () => {
    const processes = [
      services.start(cluster.connection),
      services.start(services.client(new Cluster5(cluster.addresses))),
      services.start(cluster.connection),
    ];
    for (const key of upTo(4).map(() => services.key())) {
      const held = await (processes[0] as Holder).service.acquire(key, { ttl: 20 });
      const { served, all } = await line(key, processes, 12);
      const start = performance.now();
      await held.release();
      await all;
      expect(served).toEqual(upTo(12));
      expect(performance.now() - start).toBeLessThan(1500);
    }
  });

  it('all subscriptions are cut while 12 wait and the holder releases in the gap: served in order, within a poll', async () => {
    const processes = [services.start(proxies.connection), services.start(proxies.connection)];
    const holder = services.start(cluster.connection);
    const key = services.key();
    const held = await holder.service.acquire(key, { ttl: 20 });
    const { served, all } = await line(key, processes, 12);
    for (const proxy of proxies.all) proxy.refuse();
    for (const node of cluster.nodes) await command(node, 'CLIENT', 'KILL', 'TYPE', 'pubsub');
    await held.release();
    await waitFor(() => proxies.all.reduce((sum, { refused }) => sum + refused, 0) >= 2, { message: 'the subscription to be tried again' });
    for (const proxy of proxies.all) proxy.pass();
    const start = performance.now();
    await all;
    expect(served).toEqual(upTo(12));
    expect(performance.now() - start).toBeLessThan(2500);
  });

  it('the primary of the line dies while 8 wait: they are served by its replica, in order', async () => {
    const processes = [services.start(cluster.connection), services.start(cluster.connection)];
    const key = services.key();
    const held = await (processes[1] as Holder).service.acquire(key, { ttl: 20 });
    const { served, all } = await line(key, processes, 8);
    const dead = await cluster.primaryOf(services.leaseKey(key));
    await dead.kill();
    await cluster.promoted(services.leaseKey(key), dead);
    await waitFor(() => held.renew().then(() => true), { timeoutMs: 8000 });
    const start = performance.now();
    await held.release();
    await all;
    expect(served).toEqual(upTo(8));
    expect(performance.now() - start).toBeLessThan(6000);
    await dead.restart();
    await cluster.settle();
  });
});
