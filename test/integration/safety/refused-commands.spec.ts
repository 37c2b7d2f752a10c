import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { rejection } from '../../support/attack-rig.js';
import { startHolder, type Holder } from '../../support/holder.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { planConnection } from '../../../lib/stores/redis/connection-option.js';
import { Notices } from '../../../lib/stores/redis/notices.js';
import { WakeSubscription } from '../../../lib/stores/redis/wake-subscription.js';
import type { LeaseModuleOptions } from '../../../lib/lease-module-options.js';

let counter = 0;
const freshKey = (): string => `refused-${String(++counter)}`;

describe('a service that refuses commands', () => {
  let server: RedisServer;
  let client: Redis;
  const holders: Holder[] = [];
  const start = (options: LeaseModuleOptions): Holder => {
    const holder = startHolder(options);
    holders.push(holder);
    return holder;
  };
  /** A user with all rights but these. */
  const without = async (...rules: string[]): Promise<Holder> => {
    const user = `user${String(++counter)}`;
    await client.call('ACL', 'SETUSER', user, 'on', '>pw', '~*', '&*', '+@all', ...rules);
    return start({ connection: { host: server.host, port: server.port, username: user, password: 'pw' } });
  };
  /** A lease, and a hand-over to one that waits; says how long that took. */
  const handOver = async (holder: Holder): Promise<number> => {
    const key = freshKey();
    const first = await holder.service.acquire(key, { ttl: 20, wait: 5 });
    const waiting = holder.service.acquire(key, { ttl: 20, wait: 20 });
    await waitFor(async () => (await client.zcard(`lease:{${key}}:queue`)) === 1);
    const since = performance.now();
    await first.release();
    const second = await waiting;
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
    expect(await second.release()).toBe(true);
    return performance.now() - since;
  };
  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.url);
    client.on('error', () => undefined);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    await Promise.all(holders.splice(0).map((holder) => holder.close()));
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  it('one that refuses nothing is warned of nothing', async () => {
    const holder = await without();
    await handOver(holder);
    expect(holder.warnings).toEqual([]);
  });

  it.each([
    ['INFO', ['-info'], /refuses INFO/],
    ['SUBSCRIBE', ['-subscribe'], /refuses SUBSCRIBE/],
    ['SUBSCRIBE and PUBLISH, by its channels', ['resetchannels'], /refuses SUBSCRIBE/],
    ['PUBLISH', ['-publish'], /refuses PUBLISH/],
    ['INFO and CONFIG', ['-info', '-config'], /refuses INFO/],
  ])('%s: one warning, and leases and waits work', async (_, rules, warning) => {
    const said = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const holder = await without(...rules);
    const tookMs = await handOver(holder);
    await handOver(holder);
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await handOver(holder);
    expect(holder.warnings).toEqual([expect.stringMatching(warning)]);
    expect(said).not.toHaveBeenCalled();
    expect(tookMs).toBeLessThan(3000);
  });

  it('CONFIG: one warning where INFO does not tell the policy, none where it does', async () => {
    const holder = await without('-config');
    await handOver(holder);
    expect(holder.warnings).toEqual([]);
  });

  it('a command that it does not have at all is one that it refuses', async () => {
    const other = await RedisServer.start({ config: 'rename-command INFO ""\nrename-command PUBLISH ""\n' });
    try {
      const holder = start({ connection: new Redis5(other.url, { lazyConnect: true, enableReadyCheck: false }) });
      const first = await holder.service.acquire('k');
      const waiting = holder.service.acquire('k', { wait: 20 });
      await waitFor(() => holder.warnings.length === 2);
      await first.release();
      await (await waiting).release();
      expect(holder.warnings).toEqual([expect.stringMatching(/refuses INFO.*unknown command/), expect.stringMatching(/refuses PUBLISH/)]);
    } finally {
      await Promise.all(holders.splice(0).map((holder) => holder.close()));
      await other.stop();
    }
  });

  it('a subscription that breaks while PUBLISH is tried is not taken for one that works', async () => {
    const answers: (() => void)[] = [];
    const heard: string[] = [];
    const publish = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
    const plan = planConnection(server.url);
    const subscription = new WakeSubscription(plan, 'lease:wake:me', ({ kind }) => heard.push(kind), publish, new Notices());
    try {
      await waitFor(() => answers.length === 1);
      await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await waitFor(() => answers.length === 2);
      answers[0]?.();
      await new Promise((resolve) => setImmediate(resolve));
      expect([subscription.live, heard]).toEqual([false, []]);
      answers[1]?.();
      await subscription.ready;
      expect([subscription.live, heard]).toEqual([true, ['again']]);
    } finally {
      subscription.unsubscribe();
    }
  });

  it('INFO, with the guard against amnesia: nothing is granted, and the error says why', async () => {
    await client.call('ACL', 'SETUSER', 'blind', 'on', '>pw', '~*', '&*', '+@all', '-info');
    const holder = start({
      connection: { host: server.host, port: server.port, username: 'blind', password: 'pw' },
      amnesiaGuard: '30s',
    });
    const error = await rejection(holder.service.acquire(freshKey(), { wait: 5 }));
    expect(error).toMatchObject({ code: 'LEASE_UNAVAILABLE', message: expect.stringMatching(/refuses INFO.*"amnesiaGuard"/) });
  });

  it.each(['allkeys-lru', 'volatile-ttl'])('maxmemory-policy %s: one warning that names it', async (policy) => {
    await client.config('SET', 'maxmemory-policy', policy);
    const holder = await without('-config');
    await (await holder.service.acquire(freshKey(), { wait: 5 })).release();
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await waitFor(async () => (await holder.service.acquire(freshKey(), { wait: 5 })).release());
    expect(holder.warnings).toEqual([expect.stringMatching(new RegExp(`maxmemory-policy ${policy}.*noeviction`))]);
  });
});
