import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { join } from 'node:path';
import { TestProcess } from '../support/process.js';
import { RedisServer } from '../support/redis-server.js';

jest.setTimeout(30_000);

describe('a replica of a Nest application that is told to stop, or is killed (sidekiq-unique-jobs#691, redis-semaphore#12)', () => {
  let redis: RedisServer;
  const started: TestProcess[] = [];
  const replica = async (settings: { ttl: string; hooks?: boolean; obeys?: boolean }): Promise<TestProcess> => {
    const one = new TestProcess(join(import.meta.dirname, 'replica.app.ts'), { url: redis.url, hooks: true, obeys: true, ...settings });
    started.push(one);
    await one.message('ready');
    return one;
  };
  /** How long `next` had to wait for the lease since `from`. */
  const handover = async (next: TestProcess, from: number): Promise<number> => {
    await next.message('working');
    return performance.now() - from;
  };

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.kill()));
    await redis.ask('FLUSHALL');
  });
  afterAll(() => redis.stop());

  it('SIGTERM with shutdown hooks: its handler is told after the grace, and the next replica works within a second, not a ttl', async () => {
    const old = await replica({ ttl: '60s' });
    await old.message('working');
    const next = await replica({ ttl: '60s' });
    void old.kill('SIGTERM');
    // As from a shell and a supervisor: the second changes nothing.
    const exit = old.kill('SIGTERM');
    expect(await old.message('aborted')).toMatchObject({ reason: 'shutdown' });
    expect(await handover(next, performance.now())).toBeLessThan(1000);
    expect(await old.message('ended')).toMatchObject({ code: 'LEASE_LOST' });
    expect(await exit).toBe('SIGTERM');
    expect(next.of('working')[0]?.token).toBeGreaterThan(old.of('working')[0]?.token);
  });

  it('SIGTERM with hooks and a handler that does not end: the process ends all the same, and its lease with the ttl', async () => {
    const old = await replica({ ttl: '4s', obeys: false });
    await old.message('working');
    const next = await replica({ ttl: '4s' });
    const from = performance.now();
    expect(await old.kill('SIGTERM')).toBe('SIGTERM');
    expect(next.of('working')).toEqual([]);
    expect(await handover(next, from)).toBeLessThan(6000);
  });

  it.each([
    ['SIGTERM without shutdown hooks', 'SIGTERM', false],
    ['SIGKILL', 'SIGKILL', true],
  ] as const)('%s: the next replica works within the ttl', async (_, signal, hooks) => {
    const old = await replica({ ttl: '2s', hooks });
    await old.message('working');
    const next = await replica({ ttl: '2s' });
    const from = performance.now();
    expect(await old.kill(signal)).toBe(signal);
    const waited = await handover(next, from);
    expect(waited).toBeGreaterThan(500);
    expect(waited).toBeLessThan(2500);
  });
});
