import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Param, type Type } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import {
  CurrentLease,
  FencingToken,
  Lease,
  LeaseJobsModule,
  LeaseModule,
  LeasedJobWorker,
  LeaseService,
  QuorumLeaseStore,
  SingletonCron,
  WithLease,
  type QuorumLeaseStoreOptions,
} from '../../../lib/index.js';
import { startNest, type NestApp } from '../../support/nest-app.js';
import type { RedisServer } from '../../support/redis-server.js';
import { startServers } from '../../support/topologies/independent-nodes.js';
import { waitFor } from '../../support/wait-for.js';

@Controller()
class Jobs {
  @Get('run/:id')
  @WithLease('job:<id>', { ttl: 2 })
  async run(@Param('id') id: string, @FencingToken() token: number, @CurrentLease() lease: Lease): Promise<{ id: string; token: number }> {
    lease.assertHeld();
    return Promise.resolve({ id, token });
  }
}

@Injectable()
class Reports {
  @SingletonCron('0 3 * * *', { name: 'nightly-report', ttl: 60 })
  async nightly(): Promise<void> {}
}

describe('an application on a quorum of three Redis servers', () => {
  let servers: readonly RedisServer[] = [];
  const booted: NestApp[] = [];
  const store = (options: QuorumLeaseStoreOptions = {}): QuorumLeaseStore =>
    new QuorumLeaseStore(
      servers.map(({ url }) => url),
      { nodesForget: false, nodeTimeout: '300ms', ...options },
    );
  const boot = async (providers: Type[] = [], options: QuorumLeaseStoreOptions = {}, connectOnStart = false): Promise<NestApp> => {
    const imports = [LeaseModule.forRoot({ store: store(options), ttl: 2, connectOnStart }), ScheduleModule.forRoot()];
    const jobs = LeaseJobsModule.forFeature({ keyOf: (id: string) => `claim:${id}`, ttl: 2 });
    const app = await startNest({ imports: [...imports, jobs], controllers: [Jobs], providers });
    booted.push(app);
    return app;
  };
  const get = async ({ url }: NestApp, id: string): Promise<{ status: number; body: any }> => {
    const response = await fetch(`${url}/run/${id}`);
    return { status: response.status, body: await response.json() };
  };

  beforeAll(async () => {
    servers = await startServers([{}, {}, {}]);
  });
  afterEach(async () => {
    await Promise.all(booted.splice(0).map(({ app }) => app.close()));
    await Promise.all(servers.filter(({ responsive }) => !responsive).map((server) => server.restart()));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });

  it('runs a handler under its lease, in one replica at a time, with tokens that increase', async () => {
    const [a, b] = [await boot([], {}, true), await boot()];
    const [leasesA, leasesB] = [a.app.get(LeaseService), b.app.get(LeaseService)];
    const held = await leasesA.acquire('job:1', { ttl: 20, wait: 10 });
    expect(await get(b, '1')).toMatchObject({ status: 409, body: { code: 'LEASE_BUSY' } });
    expect(await leasesB.inspect('job:1')).toMatchObject({ state: 'held', fencingToken: held.fencingToken });
    const waits = leasesB.withLease('job:1', { wait: 10 }, (lease) => lease.fencingToken);
    await held.release();
    expect(await waits).toBeGreaterThan(held.fencingToken);
    const { status, body } = await get(a, '1');
    expect(status).toBe(200);
    expect(body.token).toBeGreaterThan(await waits);
  });

  it('goes on without one of them, is unavailable without two, and recovers by itself', async () => {
    const app = await boot();
    const runs = (): Promise<boolean> => waitFor(async () => (await get(app, '2')).status === 200, { timeoutMs: 15_000 });
    await runs();
    await servers[0]!.kill();
    await runs();
    await servers[1]!.kill();
    expect(await get(app, '2')).toMatchObject({ status: 503, body: { code: 'LEASE_UNAVAILABLE' } });
    await servers[1]!.restart();
    await runs();
  });

  it('grants nothing while its servers have just started, unless they are said not to forget', async () => {
    const { app } = await boot([], { nodesForget: true, longestTtl: '10m' });
    await expect(app.get(LeaseService).acquire('job:3')).rejects.toMatchObject({
      code: 'LEASE_UNAVAILABLE',
      message: expect.stringMatching(/does not vote for another \d+ s: .*"longestTtl", "nodesForget"/),
    });
  });

  it('refuses at start-up what a quorum cannot do, and names it: scheduled jobs', async () => {
    await expect(boot([Reports])).rejects.toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      message: expect.stringMatching(/@SingletonCron on Reports\.nightly .*the store quorum does not/),
    });
  });

  it('refuses once() and the retryAfter of jobs, and names itself; jobs without it work', async () => {
    const { app } = await boot();
    await expect(app.get(LeaseService).once('charge:1', () => 1, { keepFor: '1d' })).rejects.toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      message: expect.stringContaining('The store quorum does not remember effects'),
    });
    const worker = app.get(LeasedJobWorker);
    const claim = await worker.claimNext(['1', '2']);
    expect(claim?.jobId).toBe('1');
    await expect(worker.abandon('1', { retryAfter: 5 })).rejects.toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      message: expect.stringContaining('The store quorum cannot keep a key taken by nobody (retryAfter)'),
    });
    expect(await worker.complete('1')).toBe(true);
  });
});
