import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { rejection } from '../../support/attack-rig.js';
import { startHolder, type Holder } from '../../support/holder.js';
import { RedisServer } from '../../support/redis-server.js';
import { REPLICA, ReplicaSet } from '../../support/replica-set.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';
import type { LeaseModuleOptions } from '../../../lib/lease-module-options.js';

describe('a Redis that forgets, and the guard against it', () => {
  const holders: Holder[] = [];
  const start = (connection: string, options: LeaseModuleOptions = {}): Holder => {
    const holder = startHolder({ connection, ttl: '1500ms', ...options });
    holders.push(holder);
    return holder;
  };
  afterEach(async () => void (await Promise.all(holders.splice(0).map((holder) => holder.close()))));
  const amnesiaOf = (holder: Holder): object | undefined => holder.seen.findLast(({ type }) => type === 'amnesia');

  describe('restarted empty', () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await RedisServer.start();
    });
    afterAll(() => server.stop());

    it('the holder learns it at its next renewal, and without the guard a rival may start before; both are told', async () => {
      const [a, b] = [start(server.url), start(server.url)];
      await b.service.inspect('x');
      const lease = await a.service.acquire('plain', { ttl: 3 });
      await server.restart();
      const rival = await b.service.acquire('plain', { wait: 5 });
      expect(rival.fencingToken).toBeGreaterThan(lease.fencingToken);
      await waitFor(() => amnesiaOf(b));
      expect(amnesiaOf(b)).toMatchObject({ reason: 'restarted', pauseMs: 0, server: `127.0.0.1:${String(server.port)}` });
      expect(await lease.lost).toMatchObject({ code: 'LEASE_LOST' });
    });

    it('with the guard nobody starts before the longest ttl is over, waits wait, and calls without one say for how long', async () => {
      const a = start(server.url);
      const b = start(server.url, { amnesiaGuard: '3s', commandTimeout: '2s' });
      // A server this young may have been restarted just before we came.
      const young = await b.service.acquire('held-by-b', { wait: 10 });
      const lease = await a.service.acquire('guarded', { ttl: 2 });
      const forgottenAt = performance.now();
      await server.restart();
      const refused = await rejection(b.service.acquire('other'));
      expect(refused).toMatchObject({ code: 'LEASE_UNAVAILABLE', status: 503, message: expect.stringContaining('amnesiaGuard') });
      expect(refused.retryAfterMs).toBeGreaterThan(0);
      expect(refused.retryAfterMs).toBeLessThanOrEqual(3000);
      // What is held is not paused, though it cannot be held any more.
      expect(await rejection(young.renew())).toMatchObject({ code: 'LEASE_LOST' });
      const rival = await b.service.acquire('guarded', { wait: 10 });
      expect(performance.now() - forgottenAt).toBeGreaterThan(2900);
      expect(lease.signal.aborted).toBe(true);
      expect(rival.fencingToken).toBeGreaterThan(lease.fencingToken);
      await expect(b.service.tryAcquire('other')).resolves.toBeDefined();
    });
  });

  it('a lease that would outlive the guard is not granted', async () => {
    const server = await RedisServer.start();
    try {
      const holder = start(server.url, { amnesiaGuard: '1h' });
      for (const call of [holder.service.acquire('long', { ttl: '2h' }), holder.service.acquire('long', { ttl: '2h', wait: 10 })]) {
        const error = await rejection(call);
        expect(error).toMatchObject({ code: 'LEASE_UNAVAILABLE', message: expect.stringMatching(/ttl of 2h.*"amnesiaGuard" \(1h\)/) });
      }
      // The server is too young for any other, too, which is another reason.
      expect(await rejection(holder.service.acquire('long', { ttl: 2 }))).toMatchObject({ message: expect.stringMatching(/ms to go/) });
    } finally {
      await Promise.all(holders.splice(0).map((holder) => holder.close()));
      await server.stop();
    }
  });

  describe('with replicas: one is promoted that missed the last acquire', () => {
    let set: ReplicaSet;
    let replica: RedisServer;
    let proxy: TcpProxy;
    let link: TcpProxy;
    /** What stands in the DNS, or what a cloud moves to the new primary. */
    const target = { host: '127.0.0.1', port: 0 };
    beforeAll(async () => {
      set = await ReplicaSet.start(0);
      replica = await RedisServer.start({ args: REPLICA });
      target.port = set.primary.port;
      proxy = await TcpProxy.start(target);
      link = await TcpProxy.start(set.primary);
      await set.follow(replica, link);
    });
    afterAll(async () => {
      await proxy.stop();
      await link.stop();
      await replica.stop();
      await set.stop();
    });

    it('the holder loses it, the next token is higher; the guard counts from the failover; durability would not have granted it', async () => {
      const a = start(proxy.url);
      const b = start(proxy.url, { amnesiaGuard: '1500ms' });
      const durable = start(proxy.url, { durability: { replicas: 1, timeout: '200ms' } });
      await (await durable.service.acquire('warm')).release();
      await (await b.service.acquire('warm', { wait: 10 })).release();
      await set.inStep(replica);
      link.drop('reply');
      const lease = await a.service.acquire('missed');
      expect(await rejection(durable.service.acquire('refused', { ttl: 20 }))).toMatchObject({ code: 'LEASE_NOT_DURABLE', confirmed: 0 });
      await set.primary.kill();
      await waitFor(() => replica.ask('REPLICAOF', 'NO', 'ONE'));
      target.port = replica.port;
      proxy.cut();
      const since = performance.now();
      const next = await b.service.acquire('missed', { wait: 10 });
      expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
      expect(performance.now() - since).toBeGreaterThan(1200);
      expect(amnesiaOf(b)).toMatchObject({ reason: 'promoted', pauseMs: 1500 });
      expect(lease.signal.aborted).toBe(true);
      expect(await lease.lost).toMatchObject({ code: 'LEASE_LOST' });
      expect(await replica.ask('EXISTS', 'lease:{refused}')).toMatch(/^:0/);
    });
  });

  it('a token of before that the new clock is behind of is passed by the floor of whoever knows it, or by minToken', async () => {
    const [before, after] = [await RedisServer.start(), await RedisServer.start()];
    try {
      const [a, b] = [start(before.url), start(after.url)];
      const lease = await a.service.acquire('skewed');
      // Nobody there knows the token; its clock is 5 s behind the token, as that of a new primary may be.
      const known = lease.fencingToken + 5_000_000;
      const unaware = await b.service.acquire('skewed');
      expect(unaware.fencingToken).toBeLessThan(known);
      await unaware.release();
      const aware = await b.service.acquire('skewed', { minToken: known });
      expect(aware.fencingToken).toBe(known + 1);
      await aware.release();
      const later = await b.service.acquire('skewed');
      expect(later.fencingToken).toBeGreaterThan(known + 1);
    } finally {
      await Promise.all([before.stop(), after.stop()]);
    }
  });
});
