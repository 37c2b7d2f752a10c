import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Cluster as Cluster5 } from 'ioredis5';
import { join } from 'node:path';
import type { Lease } from '../../../lib/lease/lease.js';
import type { Holder } from '../../support/holder.js';
import { TestProcess, type ChildMessage } from '../../support/process.js';
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

  it('a notice goes to one node only, and no channel stays behind once nobody waits', async () => {
    const processes = [services.start(cluster.connection), services.start(services.client(new Cluster5(cluster.addresses)))];
    const key = services.key();
    const held = await (processes[0] as Holder).service.acquire(key, { ttl: 20 });
    const { all } = await line(key, processes, 6);
    const owner = await cluster.primaryOf(services.leaseKey(key));
    const channels = async (): Promise<string[]> => (await command(owner, 'PUBSUB', 'SHARDCHANNELS')) as string[];
    expect((await channels()).filter((name) => name.startsWith(`${services.leaseKey(key)}:wake:`))).toHaveLength(2);
    const before = await cluster.busMessages('publish_sent');
    await held.release();
    await all;
    expect(await cluster.busMessages('publish_sent')).toBe(before);
    await waitFor(async () => !(await channels()).some((name) => name.includes(services.leaseKey(key))), { timeoutMs: 10_000 });
    // Who finds a lease free subscribes to nothing, though it would wait.
    const subscriptions = async (): Promise<string> => {
      const stats = await Promise.all(cluster.nodes.map((node) => command(node, 'INFO', 'commandstats')));
      return stats.map((text) => /cmdstat_ssubscribe:calls=(\d+)/.exec(String(text))?.[1] ?? '0').join();
    };
    const subscribed = await subscriptions();
    for (const one of upTo(10).map(() => services.key())) {
      for (const process of processes) await (await process.service.acquire(one, { wait: 10 })).release();
    }
    expect(await subscriptions()).toBe(subscribed);
  });

  it('the slot moves while 6 wait: their channels go with it, and the hand-over is prompt again', async () => {
    const processes = [
      services.start(cluster.connection),
      services.start(services.client(new Cluster5(cluster.addresses, { keyPrefix: 'app:' }))),
    ];
    // With a prefix it is another lease, in the same slot.
    const keys = [services.key(), services.key()];
    const holders = processes.map((process, i) => ({ process, key: keys[i] as string }));
    const slots = [services.leaseKey(keys[0] as string), `app:${services.leaseKey(keys[1] as string)}`];
    const served: string[] = [];
    const held = await Promise.all(holders.map(({ process, key }) => process.service.acquire(key, { ttl: 20 })));
    const waiting = holders.flatMap(({ process, key }) =>
      upTo(3).map(() =>
        process.service.acquire(key, { ttl: 20, wait: 60 }).then((lease) => {
          served.push(key);
          return lease.release();
        }),
      ),
    );
    for (const { process, key } of holders) await waitFor(async () => (await process.service.inspect(key))?.waiters === 3);
    for (const slot of slots) {
      const migration = await cluster.migration(slot);
      await migration.begin();
      await migration.end();
      const moved = async (): Promise<boolean> =>
        ((await command(migration.to, 'PUBSUB', 'SHARDCHANNELS')) as string[]).some((name) => name.startsWith(`${slot}:wake:`));
      await waitFor(moved, { timeoutMs: 8000, message: 'the channel at the new node' });
    }
    const start = performance.now();
    await Promise.all(held.map((lease) => lease.release()));
    await Promise.all(waiting);
    expect(served).toHaveLength(6);
    expect(performance.now() - start).toBeLessThan(1500);
  });

  it.each([
    ['no sharded channels (as before Redis 7): ordinary ones', ['-ssubscribe', '-spublish'], 1500],
    ['no rights on channels at all: by looking', ['resetchannels'], 6 * 400 + 1500],
  ])('%s', async (_, rights, limitMs) => {
    for (const node of cluster.nodes) await command(node, 'ACL', 'SETUSER', 'mute', 'reset', 'on', '>pw', '~*', '&*', '+@all', ...rights);
    const connection = { cluster: { nodes: cluster.addresses, options: { redisOptions: { username: 'mute', password: 'pw' } } } };
    const processes = [services.start(connection), services.start(connection)];
    const key = services.key();
    const held = await (processes[0] as Holder).service.acquire(key, { ttl: 20 });
    const { served, all } = await line(key, processes, 6);
    const start = performance.now();
    await held.release();
    await all;
    expect(served).toEqual(upTo(6));
    expect(performance.now() - start).toBeLessThan(limitMs);
  });

  it('a holder and its 30 waiters in front are killed: live processes behind them are served within a ttl and one claim', async () => {
    const program = join(import.meta.dirname, '..', '..', 'chaos', 'waiting', 'waiter.process.ts');
    const start = (): TestProcess => new TestProcess(program, { url: cluster.connection, namespace: services.namespace });
    const [doomed, a, b] = [start(), start(), start()];
    const look = services.start(cluster.connection);
    const key = services.key();
    const inLine = (n: number): Promise<boolean> => waitFor(async () => (await look.service.inspect(key))?.waiters === n);
    const order = { type: 'wait', key, ttl: '1s', wait: '1h' } as const;
    try {
      for (const one of [doomed, a, b]) await one.message('ready', { timeoutMs: 20_000 });
      doomed.send({ ...order, id: 'holder' });
      await doomed.message('granted');
      doomed.send({ type: 'orders', orders: upTo(30).map((i) => ({ ...order, id: String(i) })) });
      await inLine(30);
      for (const i of upTo(6)) {
        (i % 2 ? a : b).send({ ...order, id: String(i), holdMs: 0 });
        await inLine(31 + i);
      }
      await doomed.kill();
      const killedAt = performance.now();
      const granted = (): ChildMessage[] => [...a.of('granted'), ...b.of('granted')];
      await waitFor(() => granted().length === 6, { timeoutMs: 15_000, message: 'everybody to be served' });
      expect(performance.now() - killedAt).toBeLessThan(4000);
      const byToken = granted().sort((x, y) => x.token - y.token);
      const [first, ...rest] = byToken.map(({ id }) => Number(id));
      // The offer to the dead has lapsed: that one goes to the first process that looks.
      expect([0, 1]).toContain(first);
      expect(rest).toEqual(upTo(6).filter((i) => i !== first));
    } finally {
      await Promise.all([doomed, a, b].map((one) => one.kill()));
    }
  });
});
