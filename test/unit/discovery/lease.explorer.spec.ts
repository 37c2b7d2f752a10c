import 'reflect-metadata';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  Controller,
  Global,
  Injectable,
  Logger,
  Module,
  Post,
  Scope,
  type DynamicModule,
  type INestApplication,
  type Provider,
  type Type,
} from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { FencingToken } from '../../../lib/decorators/fencing-token.decorator.js';
import { injected } from '../../../lib/decorators/injected.js';
import { LeaseKey } from '../../../lib/decorators/lease-key.decorator.js';
import { WithLease } from '../../../lib/decorators/with-lease.decorator.js';
import { LeaseExplorer } from '../../../lib/discovery/lease.explorer.js';
import { getLeaseExecutorToken } from '../../../lib/lease.constants.js';
import { startNest } from '../../support/nest-app.js';
import { FakeExecutor } from '../metadata/fake-executor.js';

/* eslint-disable @typescript-eslint/no-unused-vars -- parameters are there to be looked at */

@Global()
@Module({})
class FakeLeaseModule {
  static forRoot(name?: string, executor = new FakeExecutor()): DynamicModule {
    const token = getLeaseExecutorToken(name);
    return { module: FakeLeaseModule, providers: [LeaseExplorer, { provide: token, useValue: executor }], exports: [token] };
  }
}

interface Parts {
  readonly providers?: Provider[];
  readonly controllers?: Type[];
  readonly imports?: DynamicModule[];
}

async function start({ providers = [], controllers = [], imports = [FakeLeaseModule.forRoot()] }: Parts): Promise<INestApplication> {
  return (await startNest({ imports, providers, controllers }, { listen: false })).app;
}

const failure = (text: RegExp): object =>
  expect.objectContaining({ code: 'LEASE_OPTIONS_INVALID', message: expect.stringMatching(text) as unknown as string });

@Injectable()
class Jobs {
  @WithLease('job:<id>')
  async run(id: string, @FencingToken() token: number = injected()): Promise<string> {
    return `${id}:${String(token)}`;
  }
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('instances that Nest did not make (nestjs-cls#224, nestjs-saop#31)', () => {
  it.each<[string, () => Provider[]]>([
    ['useFactory', () => [{ provide: Jobs, useFactory: () => new Jobs() }]],
    ['an async useFactory', () => [{ provide: Jobs, useFactory: async () => Promise.resolve(new Jobs()) }]],
    ['useValue', () => [{ provide: Jobs, useValue: new Jobs() }]],
    ['useValue, frozen', () => [{ provide: Jobs, useValue: Object.freeze(new Jobs()) }]],
    ['useFactory of a proxy', () => [{ provide: Jobs, useFactory: () => new Proxy(new Jobs(), {}) }]],
    ['useFactory of a subclass without decorators', () => [{ provide: Jobs, useFactory: () => new (class extends Jobs {})() }]],
    [
      'useExisting of a factory',
      () => [
        { provide: 'made', useFactory: () => new Jobs() },
        { provide: Jobs, useExisting: 'made' },
      ],
    ],
    ['useClass', () => [{ provide: Jobs, useClass: Jobs }]],
    ['the class', () => [Jobs]],
  ])('%s is bound', async (_, providers) => {
    const app = await start({ providers: providers() });
    expect(await app.get(Jobs).run('x')).toBe('x:1');
    await app.close();
  });

  it('a transient factory is bound for each of its inquirers', async () => {
    @Injectable()
    class User {
      constructor(readonly jobs: Jobs) {}
    }
    @Injectable()
    class OtherUser {
      constructor(readonly jobs: Jobs) {}
    }
    const app = await start({ providers: [{ provide: Jobs, useFactory: () => new Jobs(), scope: Scope.TRANSIENT }, User, OtherUser] });
    expect(app.get(User).jobs).not.toBe(app.get(OtherUser).jobs);
    expect([await app.get(User).jobs.run('x'), await app.get(OtherUser).jobs.run('y')]).toEqual(['x:1', 'y:2']);
    await app.close();
  });

  it('a method that a mixin copied to another class is bound too', async () => {
    class Mixed {}
    Object.defineProperty(Mixed.prototype, 'run', Object.getOwnPropertyDescriptor(Jobs.prototype, 'run') as PropertyDescriptor);
    const app = await start({ providers: [Mixed] });
    expect(await app.get<Mixed, Jobs>(Mixed).run('x')).toBe('x:1');
    await app.close();
  });

  it('an object that a second application is given works there', async () => {
    const jobs = new Jobs();
    const [first, second] = [new FakeExecutor(), new FakeExecutor()];
    const one = await start({ providers: [{ provide: Jobs, useValue: jobs }], imports: [FakeLeaseModule.forRoot(undefined, first)] });
    await one.close();
    const two = await start({ providers: [{ provide: Jobs, useValue: jobs }], imports: [FakeLeaseModule.forRoot(undefined, second)] });
    await jobs.run('x');
    expect([first.keys, second.keys]).toEqual([[], ['job:x']]);
    await two.close();
  });

  it('values of every kind are left alone', async () => {
    const values: unknown[] = [
      undefined,
      null,
      7,
      'text',
      Symbol('x'),
      () => 1,
      [],
      new Map(),
      Object.create(null),
      new Proxy({}, {}),
      new Date(),
      class Foo {},
    ];
    const app = await start({ providers: values.map((value, i) => ({ provide: `value ${String(i)}`, useValue: value })) });
    await app.close();
  });
});

describe('start-up fails, naming the places,', () => {
  it('when an override drops the decorator', async () => {
    class Dropping extends Jobs {
      override async run(id: string): Promise<string> {
        return id;
      }
    }
    await expect(start({ providers: [Dropping] })).rejects.toEqual(
      failure(/Dropping\.run overrides Jobs\.run, which takes a lease.*@WithLease/),
    );
    await expect(start({ providers: [{ provide: Jobs, useFactory: () => new Dropping() }] })).rejects.toEqual(
      failure(/Dropping\.run overrides Jobs\.run/),
    );
  });

  it('when an override far down the chain drops it, but not when it is declared again', async () => {
    class Middle extends Jobs {}
    class Dropping extends Middle {
      override async run(id: string): Promise<string> {
        return id;
      }
    }
    class Keeping extends Middle {
      @WithLease('other:<id>')
      override async run(id: string): Promise<string> {
        return id;
      }
    }
    class Below extends Keeping {}
    await (await start({ providers: [Keeping, Below] })).close();
    await expect(start({ providers: [Dropping] })).rejects.toEqual(failure(/Dropping\.run overrides Jobs\.run/));
  });

  it('but not when the class that runs declares it again below an override that dropped it', async () => {
    abstract class Dropping extends Jobs {
      override async run(id: string): Promise<string> {
        return super.run(id);
      }
    }
    class Keeping extends Dropping {
      @WithLease('job:<id>')
      override async run(id: string): Promise<string> {
        return super.run(id);
      }
    }
    await (await start({ providers: [Keeping] })).close();
  });

  it('when a @LeaseKey is not what the key asks for, or stands on a method without a lease', async () => {
    class Mistyped {
      @WithLease('job:<id>')
      async run(@LeaseKey('Id') id: string): Promise<void> {}
    }
    await expect(start({ providers: [Mistyped] })).rejects.toEqual(
      failure(/Mistyped\.run is marked @LeaseKey\('Id'\), but the key has no <Id>/),
    );
    class Orphan {
      async run(@LeaseKey('id') id: string): Promise<void> {}
    }
    await expect(start({ providers: [Orphan] })).rejects.toEqual(
      failure(/Orphan\.run is marked @LeaseKey\(\), but the method takes no lease/),
    );
  });

  it('when an accessor overrides it', async () => {
    class Dropping extends Jobs {}
    Object.defineProperty(Dropping.prototype, 'run', { get: () => async () => Promise.resolve('x'), configurable: true });
    await expect(start({ providers: [Dropping] })).rejects.toEqual(failure(/Dropping\.run overrides Jobs\.run/));
  });

  it('when a parameter is marked but the method takes no lease', async () => {
    class Orphan {
      async run(@FencingToken() token: number): Promise<number> {
        return token;
      }
    }
    await expect(start({ providers: [Orphan] })).rejects.toEqual(failure(/parameter of Orphan\.run is marked.*takes no lease/));
    @Controller()
    class OrphanController {
      @Post()
      async run(@FencingToken() token: number): Promise<number> {
        return token;
      }
    }
    await expect(start({ controllers: [OrphanController] })).rejects.toEqual(failure(/OrphanController\.run/));
  });

  it('when the method was replaced after it was decorated', async () => {
    class Patched {
      @WithLease('job')
      async run(): Promise<void> {}
    }
    Patched.prototype.run = async () => {};
    await expect(start({ providers: [Patched] })).rejects.toEqual(failure(/@WithLease on Patched\.run has been lost.*above the decorator/));
    @Injectable({ scope: Scope.REQUEST })
    class PatchedRequestScoped {
      @WithLease('job')
      async run(): Promise<void> {}
    }
    PatchedRequestScoped.prototype.run = async () => {};
    await expect(start({ providers: [PatchedRequestScoped] })).rejects.toEqual(failure(/PatchedRequestScoped\.run has been lost/));
  });

  it('but not when a decorator above wrapped it, or a patch copied its metadata', async () => {
    const Wrapping: MethodDecorator = (_t, _m, descriptor) => {
      const original = descriptor.value as unknown as (...args: unknown[]) => unknown;
      descriptor.value = function (this: unknown, ...args: unknown[]) {
        return original.apply(this, args);
      } as never;
    };
    class Wrapped {
      @Wrapping
      @WithLease('job')
      async run(@FencingToken() token: number = injected()): Promise<number> {
        return token;
      }
      @WithLease('job')
      async patched(): Promise<void> {}
    }
    const original = Wrapped.prototype.patched;
    Wrapped.prototype.patched = function (this: Wrapped) {
      return original.call(this);
    };
    for (const key of Reflect.getMetadataKeys(original) as string[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), Wrapped.prototype.patched);
    const app = await start({ providers: [Wrapped] });
    expect(await app.get(Wrapped).run()).toBe(1);
    await app.close();
  });

  it('when no parameter can fill the key', async () => {
    class Unfillable {
      @WithLease('job:<orderId>')
      async run(a: string, b: string): Promise<void> {}
    }
    await expect(start({ providers: [Unfillable] })).rejects.toEqual(
      failure(/<orderId> of the key 'job:<orderId>' of Unfillable\.run.*@LeaseKey\('orderId'\).*<0>/),
    );
  });

  it('when the class is request-scoped, too', async () => {
    @Controller({ path: 'jobs', scope: Scope.REQUEST })
    class Unfillable {
      @Post()
      @WithLease('job:<orderId>')
      async run(): Promise<void> {}
    }
    await expect(start({ controllers: [Unfillable] })).rejects.toEqual(failure(/Unfillable\.run/));
  });

  it('when nobody registered the service', async () => {
    class Billing {
      @WithLease('job', { service: 'billing' })
      async run(): Promise<void> {}
    }
    await expect(start({ providers: [{ provide: Billing, useFactory: () => new Billing() }] })).rejects.toEqual(
      failure(/Billing\.run asks the lease service "billing", which no module registered.*forRoot\(\{ name: 'billing' \}\)/),
    );
    await expect(start({ providers: [Billing] })).rejects.toThrow(/lease:executor \(import LeaseModule\.forRoot\(\)\):billing/);
    await (await start({ providers: [Billing], imports: [FakeLeaseModule.forRoot(), FakeLeaseModule.forRoot('billing')] })).close();
  });

  it('when a service is registered twice (schedule#1417)', async () => {
    @Module({ imports: [FakeLeaseModule.forRoot('billing')] })
    class BillingModule {}
    @Module({ imports: [FakeLeaseModule.forRoot('billing'), FakeLeaseModule.forRoot(), BillingModule] })
    class RootModule {}
    const twice = startNest({ imports: [RootModule] }, { listen: false });
    await expect(twice).rejects.toEqual(failure(/service "billing" is registered 2 times.*RootModule and BillingModule/));
    await (await start({ imports: [FakeLeaseModule.forRoot('billing'), FakeLeaseModule.forRoot()] })).close();
  });
});

describe('a skipped call without a value', () => {
  const Process: MethodDecorator = (_t, _m, descriptor) => {
    Reflect.defineMetadata('bull:module_queue_process', {}, descriptor.value as object);
  };
  const Processor: ClassDecorator = (target) => {
    Reflect.defineMetadata('bullmq:processor_metadata', {}, target);
  };

  @Controller()
  class HttpBelow {
    @WithLease('job', { onBusy: 'skip' })
    @Post()
    async run(): Promise<void> {}
  }
  @Controller()
  class HttpAbove {
    @Post()
    @WithLease('job', { onBusy: 'skip' })
    async run(): Promise<void> {}
  }
  @Controller()
  class Messages {
    @MessagePattern('job')
    @WithLease('job', { onBusy: 'skip' })
    async run(): Promise<void> {}
  }
  @Controller()
  class Events {
    @EventPattern('job')
    @WithLease('job', { onBusy: 'skip' })
    async run(data: object): Promise<void> {}
  }
  @Injectable()
  class Bull {
    @Process
    @WithLease('job', { onBusy: 'skip' })
    async run(): Promise<void> {}
  }
  class WorkerHost {
    @WithLease('job', { onBusy: 'skip' })
    async process(): Promise<void> {}
  }
  @Processor
  class BullMq extends WorkerHost {}

  it.each<[string, Type, RegExp]>([
    ['an HTTP route above', HttpAbove, /HttpAbove\.run is an HTTP handler.*success/],
    ['an HTTP route below', HttpBelow, /HttpBelow\.run is an HTTP handler/],
    ['a message', Messages, /Messages\.run is a message handler/],
    ['an event', Events, /Events\.run is a message handler/],
    ['a queue job', Bull, /Bull\.run is a queue handler/],
    ['a queue job of a worker class', BullMq, /WorkerHost\.process is a queue handler/],
  ])('is refused on %s, where silence would read as success (ShedLock#200)', async (_, handler, text) => {
    const place = Reflect.hasMetadata('__controller__', handler) ? 'controllers' : 'providers';
    await expect(start({ [place]: [handler] })).rejects.toEqual(failure(text));
  });

  it('is allowed where a value is given, and on everything else', async () => {
    @Controller()
    class Given {
      @Post()
      @WithLease('job', { onBusy: 'skip', skipValue: undefined })
      async run(): Promise<void> {}
    }
    await (await start({ controllers: [Given], providers: [WorkerHost] })).close();
  });
});

describe('a ttl below one second', () => {
  it('is a warning, once', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    class Short {
      @WithLease('job', { ttl: '500ms' })
      async run(): Promise<void> {}
    }
    class Sub extends Short {}
    const app = await start({ providers: [Short, Sub] });
    expect(warn.mock.calls.map(([message]) => message as string).filter((message) => message.includes('500ms'))).toEqual([
      expect.stringMatching(/@WithLease on Short\.run: a ttl of 500ms is below 1 s/),
    ]);
    await app.close();
  });
});
