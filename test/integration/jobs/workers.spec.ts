import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { join } from 'node:path';
import { TestProcess } from '../../support/process.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import type { JobWorkerOptions } from './job-worker.process.js';

jest.setTimeout(40_000);

const PROGRAM = join(import.meta.dirname, 'job-worker.process.ts');

describe('job workers in processes of their own', () => {
  let server: RedisServer;
  let redis: Redis;
  const started: TestProcess[] = [];
  const start = (options: Omit<JobWorkerOptions, 'url'>): TestProcess => {
    const worker = new TestProcess(PROGRAM, { url: server.url, ...options });
    started.push(worker);
    return worker;
  };
  const jobs = Array.from({ length: 40 }, (_, i) => String(i));
  /** Who wrote the result of each job, as its fence let them. */
  const writes = async (): Promise<Record<string, string[]>> =>
    Object.fromEntries(await Promise.all(jobs.map(async (id) => [id, await redis.lrange(`writes:${id}`, 0, -1)] as const)));

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.url);
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((worker) => worker.kill()));
    await redis.flushall();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('killed in the middle of a job, or frozen before its write: the others do every job, each exactly once', async () => {
    await redis.sadd('open', ...jobs);
    const killed = start({ name: 'killed', hangAt: 3 });
    const frozen = start({ name: 'frozen', hangAt: 3 });
    const [dead, late] = await Promise.all([killed.message('hanging'), frozen.message('hanging')]);
    frozen.freeze();
    await killed.kill();
    const [one, two] = [start({ name: 'one' }), start({ name: 'two' })];
    await Promise.all([one.message('idle', { timeoutMs: 20_000 }), two.message('idle', { timeoutMs: 20_000 })]);

    frozen.thaw();
    frozen.send({ type: 'go-on' });
    await waitFor(() => frozen.of('ran').find(({ jobId }) => jobId === late.jobId), { timeoutMs: 10_000 });
    expect(frozen.of('ran').find(({ jobId }) => jobId === late.jobId)).toMatchObject({ kind: 'lost' });

    const all = await writes();
    expect(Object.entries(all).filter(([, by]) => by.length !== 1)).toEqual([]);
    for (const { jobId } of [dead, late]) expect(['one', 'two']).toContain(all[jobId as string]?.[0]);
    expect(await redis.scard('open')).toBe(0);
    expect([...frozen.of('unhandled'), ...one.of('unhandled'), ...two.of('unhandled')]).toEqual([]);
  });
});
