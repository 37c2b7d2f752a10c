import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Param, type ModuleMetadata, type OnApplicationShutdown } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { InjectLeaseService, LeaseModule, LeaseService, WithLease, type LeaseModuleOptions } from '../../../lib/index.js';
import { CapturedLog, closeFailed, deferred, startNest, type NestApp } from '../../support/nest-app.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';

@Controller()
class Slow {
  static gate = deferred();

  @Get('slow/:id')
  @WithLease('slow:<id>', { ttl: 60 })
  async slow(@Param('id') id: string): Promise<string> {
    await Slow.gate.promise;
    return `done ${id}`;
  }

  @Get('wait/:id')
  @WithLease('slow:<id>', { ttl: 60, wait: 30 })
  async wait(@Param('id') id: string): Promise<string> {
    return Promise.resolve(`waited for ${id}`);
  }
}

describe('shutdown with Redis', () => {
  let redis: RedisServer;
  let booted: NestApp[] = [];
  const logger = new CapturedLog();

  const boot = async (options: LeaseModuleOptions = {}, metadata: ModuleMetadata = {}): Promise<NestApp> => {
    const imports = [LeaseModule.forRoot({ connection: redis.url, ...options }), ...(metadata.imports ?? [])];
    const app = await startNest({ controllers: [Slow], ...metadata, imports }, { logger });
    booted.push(app);
    return app;
  };
  const clients = async (): Promise<number> =>
    (await redis.ask('CLIENT', 'LIST')).split('\n').filter((line) => line.includes('name=')).length;

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());
  afterEach(async () => {
    await Promise.allSettled(booted.map(({ app }) => app.close()));
    booted = [];
    Slow.gate = deferred();
    logger.lines.length = 0;
  });

  it('finishes a running request, frees its lease, answers, and only then closes the connection (nest-redlock#492, nestjs-typegoose#54)', async () => {
    const { app, url } = await boot();
    const other = await boot();
    const answer = fetch(`${url}/slow/1`);
    await waitFor(() => app.get(LeaseService).inspect('slow:1'));
    const closing = app.close();
    const held = await other.app.get(LeaseService).tryAcquire('slow:1');
    expect(held).toBeUndefined();
    Slow.gate.resolve();
    expect(await (await answer).text()).toBe('done 1');
    await closing;
    const next = await other.app.get(LeaseService).acquire('slow:1');
    await next.release();
    expect([...logger.of('warn'), ...logger.of('error')]).toEqual([]);
  });

  it('refuses new work and ends waits at once; a running handler has the grace, then the signal, and its key is free at once (schedule#2053, sidekiq-unique-jobs#691)', async () => {
    const { app, url } = await boot({ shutdownGrace: '300ms' });
    const other = await boot();
    const leases = app.get(LeaseService);
    const reasons: unknown[] = [];
    const run = leases.withLease('slow:1', async (lease) => {
      await lease.lost;
      reasons.push(lease.signal.reason);
    });
    const runs = expect(run).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'shutdown' });
    await waitFor(() => leases.inspect('slow:1'));
    const waiting = fetch(`${url}/wait/1`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const begun = performance.now();
    const closing = app.close();
    const answer = await waiting;
    expect(performance.now() - begun).toBeLessThan(250);
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'LEASE_SHUTDOWN' }]);
    await expect(leases.acquire('new')).rejects.toMatchObject({ code: 'LEASE_SHUTDOWN' });
    await runs;
    await closing;
    expect(reasons).toMatchObject([{ code: 'LEASE_LOST', reason: 'shutdown' }]);
    await (await other.app.get(LeaseService).acquire('slow:1')).release();
  });

  it('leaves no place in line and no lease behind of those that were asking, so that nobody else waits for them', async () => {
    const [{ app }, other] = [await boot(), await boot()];
    const [leases, rest] = [app.get(LeaseService), other.app.get(LeaseService)];
    const held = await rest.acquire('k', { ttl: 60 });
    const asking = [leases.acquire('k', { wait: 60 })];
    await waitFor(async () => (await rest.inspect('k'))?.waiters === 1);
    for (let i = 0; i < 20; i++) asking.push(leases.acquire(`asked:${String(i)}`, { ttl: 60 }));
    const answers = Promise.allSettled(asking);
    await app.close();
    for (const answer of await answers) expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'LEASE_SHUTDOWN' } });
    expect(await rest.inspect('k')).toMatchObject({ fencingToken: held.fencingToken, waiters: 0 });
    for (let i = 0; i < 20; i++) expect(await rest.inspect(`asked:${String(i)}`)).toBeUndefined();
    await held.release();
  });

  it('told to close twice, as by a signal and the program itself, the application keeps its connection until what runs has ended', async () => {
    const { app } = await boot();
    const leases = app.get(LeaseService);
    const go = deferred();
    const run = leases.withLease('a', async () => {
      await go.promise;
      return leases.withLease('b', (lease) => lease.key);
    });
    await waitFor(() => leases.inspect('a'));
    const closing = Promise.all([app.close(), app.close()]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    go.resolve();
    expect(await run).toBe('b');
    await closing;
    expect(logger.of('warn')).toEqual([]);
  });

  it('leaves no handle behind, 100 ms after app.close() at the latest (bull#197, nestjs-redis#24, node-redlock#369)', async () => {
    const handles = (): string[] => process.getActiveResourcesInfo().filter((name) => /TCP|Timeout|Pipe|GetAddr/.test(name));
    const before = (await settled(handles)).length;
    const { app } = await boot();
    const leases = app.get(LeaseService);
    await Promise.all(Array.from({ length: 10 }, (_, i) => leases.withLease(`k${String(i)}`, () => i)));
    await leases.acquire('kept', { ttl: '200ms' }).then((lease) => lease.release());
    expect(await clients()).toBeGreaterThan(0);
    await app.close();
    await waitFor(() => handles().length <= before, { timeoutMs: 100, message: `handles to go: ${handles().join()}` });
  });

  it('of an application that failed in init leaves no handle behind either', async () => {
    const before = (await settled(() => process.getActiveResourcesInfo())).filter((name) => name.includes('TCP')).length;
    @Injectable()
    class Fails {
      constructor(readonly leases: LeaseService) {}
      async onModuleInit(): Promise<void> {
        await this.leases.withLease('k', () => 1);
        throw new Error('init failed');
      }
    }
    const module = await Test.createTestingModule({ imports: [LeaseModule.forRoot({ connection: redis.url })], providers: [Fails] })
      .setLogger(logger)
      .compile();
    await expect(module.init()).rejects.toThrow('init failed');
    await closeFailed(module);
    await waitFor(() => process.getActiveResourcesInfo().filter((name) => name.includes('TCP')).length <= before, { timeoutMs: 100 });
  });

  it('does not close a client that it was given, which others use in a later hook (nestjs-throttler-storage-redis#1214, bull#913)', async () => {
    const client = new Redis(redis.url);
    const listeners = (): number => client.eventNames().reduce((sum, name) => sum + client.listenerCount(name), 0);
    await client.ping();
    const before = listeners();
    @Injectable()
    class Later implements OnApplicationShutdown {
      said = '';
      async onApplicationShutdown(): Promise<void> {
        this.said = await client.set('later', 'yes');
      }
    }
    const { app } = await boot(
      { connection: client },
      { imports: [LeaseModule.forRoot({ connection: client, name: 'second', namespace: 'second' })], providers: [Later] },
    );
    const later = app.get(Later);
    await app.get(LeaseService).withLease('k', () => 1);
    await app.close();
    expect(later.said).toBe('OK');
    expect(client.status).toBe('ready');
    expect(await client.get('later')).toBe('yes');
    expect(listeners()).toBe(before);
    client.disconnect();
    await waitFor(async () => (await clients()) === 1);
  });

  it('drains the services of an application in parallel, and a handler of one may still use the other', async () => {
    @Injectable()
    class Both {
      constructor(
        @Inject(LeaseService) readonly one: LeaseService,
        @InjectLeaseService('two') readonly two: LeaseService,
      ) {}
    }
    const named = (name?: string) =>
      LeaseModule.forRoot({ connection: redis.url, shutdownGrace: 2, ...(name ? { name, namespace: name } : {}) });
    const app = await startNest({ imports: [named(), named('two')], providers: [Both] }, { logger });
    booted.push(app);
    const { one, two } = app.app.get(Both);
    const go = deferred();
    const run = one.withLease('a', async () => {
      await go.promise;
      return two.withLease('b', () => 'both');
    });
    const hung = [one, two].map((leases) =>
      expect(leases.withLease('hung', (lease) => lease.lost)).rejects.toMatchObject({ reason: 'shutdown' }),
    );
    await waitFor(async () => (await one.inspect('a')) && (await one.inspect('hung')) && (await two.inspect('hung')));
    const begun = performance.now();
    const closing = app.app.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    go.resolve();
    expect(await run).toBe('both');
    await Promise.all(hung);
    await closing;
    expect(performance.now() - begun).toBeLessThan(3500);
  });

  it('what has not settled is one unsettled event, left to its ttl, and the application ends', async () => {
    const { app } = await boot({ shutdownGrace: '100ms' });
    const leases = app.get(LeaseService);
    void leases.withLease('hung', () => new Promise(() => undefined));
    await waitFor(() => leases.inspect('hung'));
    await app.close();
    expect(logger.of('warn').filter((line) => line.includes('"hung"') && line.includes('left to its ttl'))).toHaveLength(1);
    expect(Number((await redis.ask('PTTL', 'lease:{hung}')).replace(':', ''))).toBeGreaterThan(0);
  });

  it('environments that share one Redis exclude each other unless their namespaces differ (framework#41182, octo-server#883)', async () => {
    const [staging, production, same] = [
      await boot({ namespace: 'staging' }),
      await boot({ namespace: 'production' }),
      await boot({ namespace: 'staging' }),
    ];
    await using _lease = await staging.app.get(LeaseService).acquire('nightly');
    await using _other = await production.app.get(LeaseService).acquire('nightly');
    expect(await same.app.get(LeaseService).tryAcquire('nightly')).toBeUndefined();
    expect(logger.of('log').filter((line) => line.includes('namespace "staging"'))).toHaveLength(2);
  });
});

/** What is open once what earlier tests left has gone. */
async function settled<T>(read: () => T): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, 100));
  return read();
}
