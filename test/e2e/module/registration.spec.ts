import { afterEach, describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import {
  getLeaseEventsToken,
  InjectLeaseService,
  LEASE_STORE,
  LeaseEvents,
  LeaseModule,
  LeaseService,
  MemoryLeaseStore,
  WithLease,
  type LeaseModuleOptions,
  type LeaseOptionsFactory,
} from '../../../lib/index.js';
import { CapturedLog, startNest, type NestApp, type NestAppOptions } from '../../support/nest-app.js';

const memory = (): LeaseModuleOptions => ({ store: new MemoryLeaseStore(), ttl: 7 });

@Injectable()
class Options implements LeaseOptionsFactory {
  createLeaseOptions(): LeaseModuleOptions {
    return memory();
  }
}

@Module({ providers: [Options], exports: [Options] })
class OptionsModule {}

@Injectable()
class Invoices {
  constructor(
    readonly leases: LeaseService,
    @InjectLeaseService('billing') readonly billing: LeaseService,
    readonly events: LeaseEvents,
    @Inject(getLeaseEventsToken('billing')) readonly billingEvents: LeaseEvents,
  ) {}

  @WithLease('invoice', { service: 'billing' })
  async run(): Promise<unknown[]> {
    return Promise.all([this.leases.inspect('invoice'), this.billing.inspect('invoice')]);
  }
}

describe('LeaseModule', () => {
  const started: NestApp[] = [];
  const boot = async (metadata: ModuleMetadata, options: NestAppOptions = {}): Promise<NestApp['app']> => {
    const booted = await startNest(metadata, { listen: false, ...options });
    started.push(booted);
    return booted.app;
  };
  const failure = (imports: ModuleMetadata['imports']): Promise<unknown> =>
    boot({ imports }).then(
      () => new Error('it started'),
      (error: unknown) => error,
    );

  afterEach(async () => {
    await Promise.all(started.splice(0).map(({ app }) => app.close()));
  });

  it.each<[string, () => ModuleMetadata['imports']]>([
    ['forRoot', () => [LeaseModule.forRoot(memory())]],
    ['useFactory', () => [LeaseModule.forRootAsync({ useFactory: memory })]],
    [
      'useFactory that waits',
      () => [
        LeaseModule.forRootAsync({
          imports: [OptionsModule],
          inject: [Options],
          useFactory: async (options: Options) => Promise.resolve(options.createLeaseOptions()),
        }),
      ],
    ],
    ['useClass', () => [LeaseModule.forRootAsync({ useClass: Options })]],
    ['useExisting', () => [LeaseModule.forRootAsync({ imports: [OptionsModule], useExisting: Options })]],
  ])('takes its options by %s', async (_, imports) => {
    const app = await boot({ imports: imports() });
    const lease = await app.get(LeaseService).acquire('k');
    expect(lease.remainingMs()).toBeGreaterThan(6000);
    expect(lease.remainingMs()).toBeLessThanOrEqual(7000);
    await lease.release();
  });

  it('without options starts with Redis, and opens no connection before the first call', async () => {
    const before = sockets();
    const app = await boot({ imports: [LeaseModule.forRoot()] });
    expect(app.get<{ capabilities: object }>(LEASE_STORE).capabilities).toMatchObject({ name: 'redis' });
    expect(sockets()).toEqual(before);
  });

  it('with the store overridden opens no connection', async () => {
    const before = sockets();
    const app = await boot(
      { imports: [LeaseModule.forRoot({ connection: 'redis://127.0.0.1:1' })] },
      { prepare: (builder) => builder.overrideProvider(LEASE_STORE).useValue(new MemoryLeaseStore()) },
    );
    await app.get(LeaseService).withLease('k', () => expect(sockets()).toEqual(before));
  });

  it('several services of an application share neither keys nor events', async () => {
    const app = await boot({
      imports: [LeaseModule.forRoot(memory()), LeaseModule.forRootAsync({ name: 'billing', useFactory: memory })],
      providers: [Invoices],
    });
    const invoices = app.get(Invoices);
    const seen: string[] = [];
    invoices.events.on('acquired', ({ key }) => seen.push(`default ${key}`));
    invoices.billingEvents.on('acquired', ({ key }) => seen.push(`billing ${key}`));
    expect(await invoices.run()).toEqual([undefined, expect.objectContaining({ state: 'held' })]);
    expect(seen).toEqual(['billing invoice']);
  });

  it('is global unless it says otherwise', async () => {
    @Injectable()
    class Needs {
      constructor(readonly leases: LeaseService) {}
    }
    @Module({ providers: [Needs] })
    class Feature {}
    await boot({ imports: [LeaseModule.forRoot(memory()), Feature] });
    expect(String(await failure([LeaseModule.forRoot({ ...memory(), isGlobal: false }), Feature]))).toContain("can't resolve dependencies");
  });

  it('registered twice under one name fails the start-up, naming both (docs.nestjs.com#3538, schedule#1417)', async () => {
    @Module({ imports: [LeaseModule.forRoot(memory())] })
    class Feature {}
    const error = await failure([LeaseModule.forRoot(memory()), Feature]);
    expect(error).toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      message: expect.stringMatching(/RootTestModule.*Feature|Feature.*RootTestModule/),
    });
    expect(await failure([LeaseModule.forRoot({ ...memory(), name: 'a' }), LeaseModule.forRoot({ ...memory(), name: 'a' })])).toMatchObject(
      { code: 'LEASE_OPTIONS_INVALID' },
    );
  });

  it('one dynamic module that is imported twice is one', async () => {
    const leases = LeaseModule.forRoot(memory());
    @Module({ imports: [leases] })
    class Feature {}
    await boot({ imports: [leases, Feature] });
  });

  it('two applications in one process are strangers', async () => {
    const [one, two] = [await boot({ imports: [LeaseModule.forRoot(memory())] }), await boot({ imports: [LeaseModule.forRoot(memory())] })];
    await using _lease = await one.get(LeaseService).acquire('k');
    await using _other = await two.get(LeaseService).acquire('k');
    await one.get(LeaseService).withLease('a', () => expect(two.get(LeaseService).current()).toBeUndefined());
  });

  it.each<[string, LeaseModuleOptions]>([
    ['ttl', { ttl: 0 }],
    ['connection', { connection: undefined }],
    ['connection', { connection: 'redis://' }],
    ['connection', { connection: { host: undefined } }],
    ['durability', { durability: 1 } as object],
    ['colour', { colour: 1 } as object],
  ])('a mistake in "%s" fails the start-up, sync and async', async (option, options) => {
    for (const imported of [LeaseModule.forRoot(options), LeaseModule.forRootAsync({ useFactory: () => options })]) {
      expect(await failure([imported])).toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option });
    }
  });

  it.each([
    [
      'a list of shard addresses',
      [
        { host: 'a', port: 1 },
        { host: 'b', port: 1 },
      ],
      /cluster: \{ nodes/,
    ],
    [
      'a client of node-redis',
      { isOpen: false, connect: () => 1, sendCommand: () => 1, createClient: () => 1, duplicate: () => 1 },
      /ioredis/,
    ],
  ])('refuses %s and names the right shape (node-redlock#294, node-redlock#23)', async (_, connection, message) => {
    expect(await failure([LeaseModule.forRoot({ connection: connection as never })])).toMatchObject({
      option: 'connection',
      message: expect.stringMatching(message),
    });
  });

  it('a factory that returns nothing fails the start-up: it never means localhost', async () => {
    const nothing = (() => undefined) as unknown as () => LeaseModuleOptions;
    expect(await failure([LeaseModule.forRootAsync({ useFactory: nothing })])).toMatchObject({ option: 'options' });
  });

  it('a name inside the result of a factory fails the start-up', async () => {
    expect(await failure([LeaseModule.forRootAsync({ useFactory: () => ({ ...memory(), name: 'billing' }) })])).toMatchObject({
      option: 'name',
    });
  });

  it('forRootAsync without a source, or with two, is refused where it is written', () => {
    expect(() => LeaseModule.forRootAsync({})).toThrow(/useFactory, useClass or useExisting/);
    expect(() => LeaseModule.forRootAsync({ useFactory: memory, useClass: Options })).toThrow(/useFactory and useClass/);
    expect(() => LeaseModule.forRoot({ name: '' })).toThrow(/"name"/);
  });

  it('logs store and namespace at start-up, and a ttl that is short', async () => {
    const logger = new CapturedLog();
    await boot({ imports: [LeaseModule.forRoot({ ...memory(), namespace: 'staging', ttl: '500ms' })] }, { logger });
    expect(logger.of('log').join('\n')).toMatch(/"default".*memory.*"staging"/);
    expect(logger.of('warn').join('\n')).toContain('500ms');
  });
});

const sockets = (): string[] => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP') || name.startsWith('GetAddr'));
