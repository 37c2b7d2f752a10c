import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Param } from '@nestjs/common';
import { LeaseModule, LeaseService, WithLease, type LeaseModuleOptions } from '../../../lib/index.js';
import { CapturedLog, deferred, startNest, type NestApp } from '../../support/nest-app.js';
import { freePort, RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';

@Controller()
class Jobs {
  @Get('run/:id')
  @WithLease('job:<id>')
  async run(@Param('id') id: string): Promise<string> {
    return Promise.resolve(`ran ${id}`);
  }
}

describe('an outage of Redis', () => {
  let redis: RedisServer | undefined;
  let booted: NestApp | undefined;
  const stray: unknown[] = [];
  const keep = (error: unknown): void => void stray.push(error);
  const boot = async (options: LeaseModuleOptions): Promise<NestApp> =>
    (booted = await startNest({
      imports: [LeaseModule.forRoot({ commandTimeout: '500ms', shutdownGrace: '50ms', ...options })],
      controllers: [Jobs],
    }));
  const status = async (): Promise<number> => (await fetch(`${booted?.url ?? ''}/run/1`)).status;

  beforeEach(() => {
    stray.length = 0;
    process.on('unhandledRejection', keep);
    process.on('uncaughtException', keep);
  });
  afterEach(async () => {
    await booted?.app.close();
    await redis?.stop();
    booted = redis = undefined;
    process.off('unhandledRejection', keep);
    process.off('uncaughtException', keep);
    expect(stray).toEqual([]);
  });

  it('at start-up: the application starts, calls are unavailable in time, and all is well once Redis is there (murlock#59, nest#2125)', async () => {
    const port = await freePort();
    await boot({ connection: `redis://127.0.0.1:${String(port)}` });
    const begun = performance.now();
    expect(await status()).toBe(503);
    expect(performance.now() - begun).toBeLessThan(1500);
    redis = await RedisServer.start({ port });
    await waitFor(async () => (await status()) === 200);
  });

  it('later: calls are unavailable in time, running handlers are told, and all is well afterwards without a restart (murlock#59, node-redlock#283)', async () => {
    redis = await RedisServer.start();
    const { app } = await boot({ connection: redis.url });
    expect(await status()).toBe(200);
    const told = Promise.allSettled(
      [1, 2, 3].map((i) => app.get(LeaseService).withLease(`held:${String(i)}`, { ttl: 1 }, (lease) => lease.lost)),
    );
    await waitFor(() => app.get(LeaseService).inspect('held:3'));
    await redis.kill();
    expect(await status()).toBe(503);
    expect(await told).toEqual(
      Array(3).fill({ status: 'rejected', reason: expect.objectContaining({ code: 'LEASE_LOST', reason: 'store' }) }),
    );
    await redis.restart();
    await waitFor(async () => (await status()) === 200, { timeoutMs: 10_000 });
  });

  it('keys that vanish under three holders end nothing but their calls (node-redlock#283, redbeat#230)', async () => {
    redis = await RedisServer.start();
    const { app } = await boot({ connection: redis.url });
    const gate = deferred();
    const calls = [1, 2, 3].map((i) => app.get(LeaseService).withLease(`held:${String(i)}`, { ttl: '400ms' }, () => gate.promise));
    const all = Promise.allSettled(calls);
    await waitFor(() => app.get(LeaseService).inspect('held:3'));
    await redis.ask('FLUSHALL');
    await new Promise((resolve) => setTimeout(resolve, 300));
    gate.resolve();
    expect(await all).toEqual(
      Array(3).fill({ status: 'rejected', reason: expect.objectContaining({ code: 'LEASE_LOST', reason: 'expired' }) }),
    );
    expect(await status()).toBe(200);
  });

  it('connectOnStart fails the start-up within commandTimeout, and leaves no connection', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
    const connection = `redis://127.0.0.1:${String(await freePort())}`;
    const begun = performance.now();
    await expect(boot({ connection, connectOnStart: true })).rejects.toMatchObject({
      code: 'LEASE_UNAVAILABLE',
      message: expect.stringContaining('connectOnStart'),
    });
    expect(performance.now() - begun).toBeLessThan(3000);
    await waitFor(() => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length <= before);
  });

  it('connectOnStart waits until then for a Redis that starts together with the application', async () => {
    const port = await freePort();
    const starting = boot({ connection: `redis://127.0.0.1:${String(port)}`, connectOnStart: true, commandTimeout: '4s' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    redis = await RedisServer.start({ port });
    await starting;
    expect(await status()).toBe(200);
  });

  it('connectOnStart fails at once when Redis refuses the password', async () => {
    redis = await RedisServer.start({ args: ['--user', 'guest', 'on', '>secret', '~*', '&*', '+@all'] });
    const connection = redis.url.replace('//', '//guest:wrong@');
    const begun = performance.now();
    await expect(boot({ connection, connectOnStart: true, commandTimeout: '30s' })).rejects.toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    expect(performance.now() - begun).toBeLessThan(3000);
  });

  it('connectOnStart passes when the store answers', async () => {
    redis = await RedisServer.start();
    await boot({ connection: redis.url, connectOnStart: true });
    expect(await status()).toBe(200);
  });

  it('a wait outlasts it', async () => {
    redis = await RedisServer.start();
    const { app } = await boot({ connection: redis.url });
    expect(await status()).toBe(200);
    await redis.kill();
    const waiting = app.get(LeaseService).withLease('k', { wait: 15 }, () => 'got it');
    await redis.restart();
    expect(await waiting).toBe('got it');
  });

  it('is told in the log as a sentence, once for each lease', async () => {
    redis = await RedisServer.start();
    const logger = new CapturedLog();
    booted = await startNest(
      { imports: [LeaseModule.forRoot({ connection: redis.url, commandTimeout: '500ms', shutdownGrace: '50ms' })] },
      { logger },
    );
    const lost = booted.app.get(LeaseService).withLease('k', { ttl: 1 }, (lease) => lease.lost);
    await waitFor(() => booted?.app.get(LeaseService).inspect('k'));
    await redis.kill();
    await expect(lost).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(logger.of('warn').filter((line) => line.includes('was not renewed'))).toHaveLength(1);
    expect(logger.of('warn').filter((line) => line.includes('was lost (store)'))).toHaveLength(1);
  });
});
