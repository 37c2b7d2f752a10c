import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { rejection } from '../../support/attack-rig.js';
import { RedisServer } from '../../support/redis-server.js';
import { Services } from '../../support/topologies/services.js';
import { waitFor } from '../../support/wait-for.js';

jest.setTimeout(60_000);

describe('a Redis that is restarted with its data, and reads it for a while (LOADING, redisson#612)', () => {
  const services = new Services();
  let server: RedisServer;
  // A thousandth of a second for each key.
  beforeAll(
    async () =>
      (server = await RedisServer.start({ args: ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024'] })),
  );
  afterAll(() => server?.stop());

  it('a lease lives on, a call that may wait gets one, and one that may not is unavailable in its time', async () => {
    const client = services.client(new Redis(server.url));
    await client.eval('for i = 1, 1500 do redis.call("SET", "k" .. i, i) end', 0);
    const [a, b] = [services.start(server.url), services.start(server.url, { commandTimeout: '400ms' })];
    const lease = await a.service.acquire(services.key(), { ttl: 20 });
    await b.service.inspect('warm-up');
    const restarted = server.restart({ empty: false });
    const loading = async (): Promise<boolean> => (await server.ask('GET', 'k1')).startsWith('-LOADING');
    await waitFor(loading, { timeoutMs: 10_000, message: 'LOADING' });
    const start = performance.now();
    expect(await rejection(b.service.acquire(services.key()))).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    expect(performance.now() - start).toBeLessThan(1500);
    const next = await b.service.acquire(services.key(), { wait: 20 });
    expect(await next.release()).toBe(true);
    await restarted;
    await lease.renew();
    lease.assertHeld();
    expect(a.types()).not.toContain('lost');
    expect(await lease.release()).toBe(true);
  });
});
