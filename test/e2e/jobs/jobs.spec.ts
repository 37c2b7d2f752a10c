import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Module, Param, type ModuleMetadata } from '@nestjs/common';
import {
  getLeasedJobWorkerToken,
  InjectLeasedJobWorker,
  isLeaseError,
  LeasedJobWorker,
  LeaseJobsModule,
  LeaseModule,
  LeaseService,
  type LeaseModuleOptions,
} from '../../../lib/index.js';
import { CapturedLog, deferred, startNest, type NestApp } from '../../support/nest-app.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';

const keyOf = (id: string): string => `job:${id}`;

@Injectable()
class Poller {
  constructor(
    readonly worker: LeasedJobWorker,
    @InjectLeasedJobWorker('mails') readonly mails: LeasedJobWorker,
  ) {}
}

@Module({
  imports: [
    LeaseJobsModule.forFeature({ keyOf, ttl: 60, concurrency: 2 }),
    LeaseJobsModule.forFeature({ name: 'mails', keyOf: (id) => `mail:${id}` }),
  ],
  providers: [Poller],
})
class JobsModule {}

@Controller('charges')
class Charges {
  static effects = 0;
  static gate = deferred();

  constructor(private readonly leases: LeaseService) {}

  @Get(':id')
  charge(@Param('id') id: string): Promise<object> {
    const effect = async (): Promise<object> => {
      Charges.effects += 1;
      if (id === 'slow') await Charges.gate.promise;
      if (id === 'huge') return { text: 'x'.repeat(70_000) };
      return { id, n: Charges.effects };
    };
    return this.leases.once(`charge:${id}`, effect, { keepFor: '1d', ttl: 60 });
  }
}

describe('jobs in Nest applications on Redis', () => {
  let redis: RedisServer;
  let booted: NestApp[] = [];
  const logger = new CapturedLog();
  const boot = async (metadata: ModuleMetadata, options: LeaseModuleOptions = {}): Promise<NestApp> => {
    const imports = [LeaseModule.forRoot({ connection: redis.url, ...options }), ...(metadata.imports ?? [])];
    const app = await startNest({ ...metadata, imports }, { logger });
    booted.push(app);
    return app;
  };

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());
  afterEach(async () => {
    Charges.gate.resolve();
    await Promise.allSettled(booted.map(({ app }) => app.close()));
    booted = [];
    Charges.gate = deferred();
    logger.lines.length = 0;
  });

  it('injects a worker by class, and further ones by name', async () => {
    const { app } = await boot({ imports: [JobsModule] });
    const { worker, mails } = app.get(Poller);
    expect(worker).not.toBe(mails);
    expect(app.get(getLeasedJobWorkerToken('mails'), { strict: false })).toBe(mails);
    expect((await worker.tryClaim('1'))?.lease.key).toBe('job:1');
    expect((await mails.tryClaim('1'))?.lease.key).toBe('mail:1');
    await Promise.all([worker.complete('1'), mails.complete('1')]);
  });

  it('claims by the lease service of another name', async () => {
    const imports = [
      LeaseModule.forRoot({ name: 'billing', namespace: 'billing', connection: redis.url }),
      LeaseJobsModule.forFeature({ keyOf, service: 'billing' }),
    ];
    const { app } = await boot({ imports });
    const worker = app.get(LeasedJobWorker, { strict: false });
    await worker.tryClaim('1');
    expect(await redis.ask('EXISTS', 'billing:{job:1}')).toContain('1');
    await worker.complete('1');
  });

  it.each([
    [{ keyOf, concurrency: 0 }, /"concurrency" is 0/],
    [{ keyOf, ttl: 86_400 }, /"ttl" is 86400/],
  ])('fails the start-up for %j', async (options, message) => {
    await expect(boot({ imports: [LeaseJobsModule.forFeature(options)] })).rejects.toThrow(message);
  });

  it('names the module that is missing', async () => {
    await expect(startNest({ imports: [LeaseJobsModule.forFeature({ keyOf })] })).rejects.toThrow(/import LeaseModule\.forRoot\(\)/);
  });

  it('at app.close() finishes what runs, claims nothing any more, and leaves the jobs to others at once', async () => {
    const [{ app }, other] = [await boot({ imports: [JobsModule] }), await boot({ imports: [JobsModule] })];
    const { worker } = app.get(Poller);
    const rival = other.app.get(Poller).worker;
    const gate = deferred();
    const run = worker.run('1', () => gate.promise);
    await worker.tryClaim('2');
    await waitFor(() => worker.active.length === 2);

    let closed = false;
    const closing = app.close().then(() => (closed = true));
    await waitFor(() =>
      worker.tryClaim('3').then(
        () => false,
        (error: unknown) => isLeaseError(error, 'LEASE_SHUTDOWN'),
      ),
    );
    await expect(worker.claimNext(['3'])).rejects.toMatchObject({ code: 'LEASE_SHUTDOWN' });
    expect(await rival.claimNext(['1', '2'])).toBeUndefined();
    gate.resolve();
    expect(await run).toMatchObject({ kind: 'done' });
    expect(closed).toBe(false);
    await worker.abandon('2');
    await closing;
    expect((await rival.claimNext(['1', '2']))?.jobId).toBe('1');
    expect((await rival.claimNext(['1', '2']))?.jobId).toBe('2');
    await Promise.all([rival.complete('1'), rival.complete('2')]);
    expect([...logger.of('warn'), ...logger.of('error')]).toEqual([]);
  });

  it('at app.close() tells a job that does not end by its signal, and then its run is lost', async () => {
    const { app } = await boot({ imports: [JobsModule] }, { shutdownGrace: '200ms' });
    const { worker } = app.get(Poller);
    const run = worker.run(
      '1',
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );
    await waitFor(() => worker.active.length === 1);
    await app.close();
    expect(await run).toMatchObject({ kind: 'lost', error: { reason: 'shutdown' } });
  });

  it('answers a repeated request with the recorded result, and a concurrent one with 409', async () => {
    const [one, two] = [await boot({ controllers: [Charges] }), await boot({ controllers: [Charges] })];
    const first = await (await fetch(`${one.url}/charges/7`)).json();
    expect(await (await fetch(`${two.url}/charges/7`)).json()).toEqual(first);

    const slow = fetch(`${one.url}/charges/slow`);
    await waitFor(() => two.app.get(LeaseService).inspect('charge:slow'));
    const busy = await fetch(`${two.url}/charges/slow`);
    expect([busy.status, Number(busy.headers.get('retry-after')) > 0]).toEqual([409, true]);
    Charges.gate.resolve();
    expect((await slow).status).toBe(200);
  });

  it('answers 409 for an effect that is uncertain and 500 for a result that cannot be kept, without key or holder', async () => {
    const { app, url } = await boot({ controllers: [Charges] });
    const leases = app.get(LeaseService);
    const lost = leases.once('charge:lost', (lease) => leases.forceRelease(lease.key), { keepFor: '1d' });
    await expect(lost).rejects.toMatchObject({ code: 'LEASE_LOST' });
    const uncertain = await fetch(`${url}/charges/lost`);
    expect(uncertain.status).toBe(409);
    expect(await uncertain.json()).toEqual({ statusCode: 409, code: 'EFFECT_UNCERTAIN', message: expect.not.stringContaining('charge') });
    const huge = await fetch(`${url}/charges/huge`);
    expect(huge.status).toBe(500);
    expect(await huge.json()).toEqual({ statusCode: 500, code: 'EFFECT_RESULT_UNUSABLE', message: expect.not.stringContaining('charge') });
  });
});
