import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { AttackRig, rejection } from '../../support/attack-rig.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';

describe('clients of Redis with settings that hang others', () => {
  const rig = new AttackRig();

  it.each([
    ['ioredis 6', Redis],
    ['ioredis 5', Redis5],
  ])(
    '%s that keeps commands for ever: every call settles within its own limit (ioredis#1604, ioredis#285, ioredis#2193)',
    async (_, Client) => {
      const client = new (Client as typeof Redis)(rig.proxy.url, {
        maxRetriesPerRequest: null,
        enableOfflineQueue: true,
        autoResendUnfulfilledCommands: false,
      });
      client.on('error', () => undefined);
      const a = rig.attacked({ connection: client, commandTimeout: '400ms' });
      const within = async (limitMs: number, call: Promise<unknown>): Promise<unknown> => {
        const start = performance.now();
        const outcome = await call.catch((error: unknown) => (error as { code: string }).code);
        expect(performance.now() - start).toBeLessThan(limitMs);
        return outcome;
      };
      const lease = await a.service.acquire(rig.key(), { ttl: 1 });
      rig.proxy.refuse().cut();
      expect(await within(900, a.service.acquire(rig.key()))).toBe('LEASE_UNAVAILABLE');
      expect(await within(900, lease.renew())).toBe('LEASE_LOST');
      expect(await within(900, lease.release())).toBe(false);
      expect(await within(900, a.service.inspect('k'))).toBe('LEASE_UNAVAILABLE');
      rig.proxy.pass();
      const again = await a.service.acquire(rig.key(), { wait: 5 });
      rig.proxy.drop('reply');
      expect(await within(900, again.release())).toBe(false);
      rig.proxy.pass();
      client.disconnect();
    },
  );

  it('auto-pipelining without an offline queue, asked before it is connected: settles, and no rejection goes unhandled (ioredis#1511)', async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', listen);
    const settings = { enableAutoPipelining: true, enableOfflineQueue: false, lazyConnect: true, retryStrategy: () => null };
    const [client, nobody] = [new Redis(rig.server.url, settings), new Redis({ port: 1, host: '127.0.0.1', ...settings })];
    for (const one of [client, nobody]) one.on('error', () => undefined);
    const [a, b] = [rig.attacked({ connection: client }), rig.attacked({ connection: nobody, commandTimeout: '300ms' })];
    const [lease, failure] = await Promise.all([a.service.acquire(rig.key()), rejection(b.service.acquire(rig.key()))]);
    expect(failure).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    expect(await lease.release()).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
    client.disconnect();
    nobody.disconnect();
  });

  it('a lost answer does not block the retry of its own caller for a ttl (redlock-rb#76, redlock-rb#3)', async () => {
    const a = rig.attacked({ commandTimeout: '150ms' });
    await rig.warm(a);
    const key = rig.key();
    rig.proxy.drop('reply');
    expect(await rejection(a.service.acquire(key, { ttl: 20 }))).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    rig.proxy.pass();
    const start = performance.now();
    const lease = await a.service.acquire(key, { ttl: 20, wait: 5 });
    expect(performance.now() - start).toBeLessThan(3000);
    expect(await lease.release()).toBe(true);
  });
});

describe('a primary that is demoted and keeps its connections', () => {
  const rig = new AttackRig();
  let other: RedisServer;
  beforeAll(async () => (other = await RedisServer.start()));
  afterAll(() => other.stop());

  it('READONLY is no lasting state: the holder is told by its deadline, and the next acquire works (ioredis#144, redis-py#460)', async () => {
    const a = rig.attacked();
    const lease = await a.service.acquire(rig.key(), { ttl: 1 });
    await rig.client.call('REPLICAOF', other.host, String(other.port));
    const start = performance.now();
    const error = await lease.lost;
    expect(['store', 'expired']).toContain(error.reason);
    expect(performance.now() - start).toBeLessThan(1000);
    expect(await rejection(a.service.acquire(rig.key()))).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    const before = rig.proxy.connections;
    await rejection(a.service.acquire(rig.key()));
    await waitFor(() => rig.proxy.connections > before);
    await rig.client.call('REPLICAOF', 'NO', 'ONE');
    const next = await a.service.acquire(rig.key(), { wait: 5 });
    expect(await next.release()).toBe(true);
  });
});
