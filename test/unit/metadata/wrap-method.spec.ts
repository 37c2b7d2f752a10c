import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { applyDecorators, SetMetadata } from '@nestjs/common';
import { firstValueFrom, isObservable, Observable, of } from 'rxjs';
import { CurrentLease } from '../../../lib/decorators/current-lease.decorator.js';
import { FencingToken } from '../../../lib/decorators/fencing-token.decorator.js';
import { injected } from '../../../lib/decorators/injected.js';
import { WithLease } from '../../../lib/decorators/with-lease.decorator.js';
import { bindExecutor, executorOf } from '../../../lib/metadata/bind-executor.js';
import { declaredAt } from '../../../lib/metadata/declaration.js';
import { FakeExecutor } from './fake-executor.js';

/* eslint-disable @typescript-eslint/no-unused-vars -- parameters are there to be looked at */

function bound<T extends object>(instance: T): { instance: T; executor: FakeExecutor } {
  const executor = new FakeExecutor();
  bindExecutor(instance, executor);
  return { instance, executor };
}

/** A decorator that puts its own function in the place of the method, as tracing and logging decorators do. */
const Traced =
  (log: string[], name: string, copy = true): MethodDecorator =>
  (_target, _method, descriptor) => {
    const original = descriptor.value as unknown as (...args: unknown[]) => unknown;
    function traced(this: unknown, ...args: unknown[]): unknown {
      log.push(name);
      return original.apply(this, args);
    }
    if (copy)
      for (const key of Reflect.getMetadataKeys(original) as string[])
        Reflect.defineMetadata(key, Reflect.getMetadata(key, original), traced);
    descriptor.value = traced as never;
  };

describe('the wrapper', () => {
  it('has the name, the length, the kind and the properties of the method', () => {
    class Jobs {
      @WithLease('job')
      async run(a: string, b: string, c = 1): Promise<void> {}
      async plain(a: string, b: string, c = 1): Promise<void> {}
    }
    const { run, plain } = Jobs.prototype;
    expect(run.name).toBe('run');
    expect(run.length).toBe(plain.length);
    expect(Object.prototype.toString.call(run)).toBe(Object.prototype.toString.call(plain));
    expect(Object.getOwnPropertyDescriptor(Jobs.prototype, 'run')).toMatchObject({ enumerable: false, configurable: true, writable: true });
  });

  it('carries the metadata of decorators below, and keeps that of decorators above (swagger#217)', () => {
    class Jobs {
      @SetMetadata('above', 1)
      @WithLease('job')
      @SetMetadata('below', 2)
      async run(): Promise<void> {}
    }
    expect(Reflect.getMetadata('above', Jobs.prototype.run)).toBe(1);
    expect(Reflect.getMetadata('below', Jobs.prototype.run)).toBe(2);
  });

  it('stays when applyDecorators drops what decorators return', async () => {
    class Jobs {
      @applyDecorators(SetMetadata('a', 1), WithLease('job'), SetMetadata('b', 2))
      async run(): Promise<void> {}
    }
    const { instance, executor } = bound(new Jobs());
    await instance.run();
    expect(executor.keys).toEqual(['job']);
    expect([Reflect.getMetadata('a', Jobs.prototype.run), Reflect.getMetadata('b', Jobs.prototype.run)]).toEqual([1, 2]);
  });

  it('works with decorators above and below that replace the method', async () => {
    const log: string[] = [];
    class Jobs {
      @Traced(log, 'above', false)
      @WithLease('job:<0>')
      @Traced(log, 'below', false)
      async run(id: string, @FencingToken() token: number = injected()): Promise<string> {
        log.push('body');
        return `${id}:${String(token)}`;
      }
    }
    const { instance, executor } = bound(new Jobs());
    expect(await instance.run('x')).toBe('x:1');
    expect(log).toEqual(['above', 'below', 'body']);
    expect(executor.keys).toEqual(['job:x']);
  });

  it('overwrites injected parameters whatever the caller passes, and leaves the caller’s array alone', async () => {
    class Jobs {
      @WithLease('job')
      async run(a: string, @FencingToken() token?: number, b?: string, @CurrentLease() lease?: object): Promise<unknown[]> {
        return [a, token, b, lease];
      }
    }
    const { instance } = bound(new Jobs());
    const args: [string, number, string, object] = ['a', 999, 'b', { forged: true }];
    expect(await instance.run(...args)).toEqual(['a', 1, 'b', { fencingToken: 1 }]);
    expect(args[1]).toBe(999);
    expect(await instance.run('a')).toEqual(['a', 2, undefined, { fencingToken: 2 }]);
  });

  it('without the wrapper injected() throws instead of running with no token', async () => {
    class Jobs {
      async run(token: number = injected()): Promise<number> {
        return token;
      }
    }
    await expect(new Jobs().run()).rejects.toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      message: expect.stringContaining('@WithLease') as unknown as string,
    });
  });

  it('runs the body with the instance and its private state', async () => {
    class Jobs {
      #secret = 's';
      @WithLease('job')
      async run(): Promise<string> {
        return this.#secret;
      }
    }
    expect(await bound(new Jobs()).instance.run()).toBe('s');
  });

  it('works on methods named by symbols', async () => {
    const name = Symbol('run');
    class Jobs {
      @WithLease('job')
      async [name](@FencingToken() token: number = injected()): Promise<number> {
        return token;
      }
    }
    expect(await bound(new Jobs()).instance[name]()).toBe(1);
  });

  it('is told apart from a replacement by the declaration', () => {
    class Jobs {
      @WithLease('job')
      async run(): Promise<void> {}
    }
    expect(declaredAt(Jobs.prototype, 'run')[0]?.inPlace()).toBe(Jobs.prototype.run);
  });
});

describe('an instance without an executor', () => {
  let ran = 0;
  class Jobs {
    @WithLease('job')
    async run(): Promise<void> {
      ran += 1;
    }
    @WithLease('job')
    watch(): Observable<number> {
      ran += 1;
      return of(1);
    }
    @WithLease('job')
    async *stream(): AsyncGenerator<number> {
      ran += 1;
      yield 1;
    }
  }
  const unbound = {
    code: 'LEASE_OPTIONS_INVALID',
    message: expect.stringMatching(/Jobs\.\w+ takes a lease.*LeaseModule\.forRoot\(\).*bindLease/) as unknown as string,
  };

  it('never runs the body: it rejects and says how to test (nestjs-saop#31)', async () => {
    await expect(new Jobs().run()).rejects.toMatchObject(unbound);
    expect(ran).toBe(0);
  });

  it('fails streams where their consumers see it', async () => {
    const stream = new Jobs().watch();
    expect(isObservable(stream)).toBe(true);
    await expect(firstValueFrom(stream)).rejects.toMatchObject(unbound);
    await expect(new Jobs().stream().next()).rejects.toMatchObject(unbound);
    expect(ran).toBe(0);
  });

  it('says that the instance is missing when the method was torn off it', async () => {
    const { run } = new Jobs();
    await expect(run.call(undefined as unknown as Jobs)).rejects.toThrow(/called without its instance.*bind/);
    expect(ran).toBe(0);
  });

  it('names the service that has to be registered', async () => {
    class Billing {
      @WithLease('job', { service: 'billing' })
      async run(): Promise<void> {}
    }
    const { instance } = bound(new Billing());
    await expect(instance.run()).rejects.toThrow(/LeaseModule\.forRoot\(\{ name: 'billing' \}\)/);
  });
});

describe('binding', () => {
  class Jobs {
    @WithLease('job')
    async run(): Promise<void> {}
  }

  it('leaves no property on the instance', () => {
    const { instance } = bound(new Jobs());
    expect(Reflect.ownKeys(instance)).toEqual([]);
    expect(JSON.stringify(instance)).toBe('{}');
    expect(Object.keys(Jobs.prototype)).toEqual([]);
  });

  it('works on frozen instances', async () => {
    const { instance, executor } = bound(Object.freeze(new Jobs()));
    await instance.run();
    expect(executor.keys).toEqual(['job']);
  });

  it('holds for each instance by itself', () => {
    const [one, two] = [bound(new Jobs()), bound(new Jobs())];
    expect(executorOf(one.instance)).toBe(one.executor);
    expect(executorOf(two.instance)).toBe(two.executor);
    expect(executorOf(new Jobs())).toBeUndefined();
    expect(executorOf(Jobs.prototype)).toBeUndefined();
  });

  it('holds through a proxy that forwards to a bound instance without a receiver, and for a proxy that is bound itself', async () => {
    const { instance, executor } = bound(new Jobs());
    const forwarding = new Proxy(instance, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    await forwarding.run();
    const own = bound(new Proxy(new Jobs(), {}));
    await own.instance.run();
    expect([executor.keys, own.executor.keys]).toEqual([['job'], ['job']]);
  });

  it('asks each service for its own methods', async () => {
    class Both {
      @WithLease('a')
      async a(): Promise<void> {}
      @WithLease('b', { service: 'billing' })
      async b(): Promise<void> {}
    }
    const instance = new Both();
    const [main, billing] = [new FakeExecutor(), new FakeExecutor()];
    bindExecutor(instance, main);
    bindExecutor(instance, billing, 'billing');
    await instance.a();
    await instance.b();
    expect([main.keys, billing.keys]).toEqual([['a'], ['b']]);
  });
});

describe('inheritance', () => {
  abstract class Base {
    @WithLease('base:<0>')
    async run(id: string, @FencingToken() token: number = injected()): Promise<string> {
      return `${this.kind()}:${id}:${String(token)}`;
    }
    protected abstract kind(): string;
  }
  class Plain extends Base {
    protected kind(): string {
      return 'plain';
    }
  }
  class Overriding extends Base {
    protected kind(): string {
      return 'overriding';
    }
    @WithLease('sub:<0>')
    override async run(id: string, token: number = injected()): Promise<string> {
      return `${await super.run(id)}+${String(token)}`;
    }
  }
  class Moved extends Base {
    protected kind(): string {
      return 'moved';
    }
    @WithLease('moved')
    override async run(id: string, other = 7, @FencingToken() token: number = injected()): Promise<string> {
      return `${id}:${String(other)}:${String(token)}`;
    }
  }

  it('runs an inherited method of an abstract class', async () => {
    const { instance, executor } = bound(new Plain());
    expect(await instance.run('x')).toBe('plain:x:1');
    expect(executor.keys).toEqual(['base:x']);
  });

  it('runs override and super each under its key (distributed-lock#17)', async () => {
    const { instance, executor } = bound(new Overriding());
    expect(await instance.run('x')).toBe('overriding:x:2+1');
    expect(executor.keys).toEqual(['sub:x', 'base:x']);
  });

  it('gives an override the marked parameters of its base, as Nest does with route parameters, and never changes the base', async () => {
    const moved = bound(new Moved());
    expect(await moved.instance.run('x')).toBe('x:1:1');
    expect(await bound(new Plain()).instance.run('x')).toBe('plain:x:1');
  });
});

describe('the shape of the result', () => {
  class Streams {
    @WithLease('k')
    annotated(): Observable<number> {
      return of(1);
    }
    @WithLease('k', { returns: 'observable' })
    told() {
      return of(1);
    }
    @WithLease('k')
    async *generator(): AsyncGenerator<number> {
      yield 1;
    }
    @WithLease('k')
    async promised(): Promise<Observable<number>> {
      return of(1);
    }
    @WithLease('k')
    @WithLease('l')
    async *twice(): AsyncGenerator<number> {
      yield 1;
    }
  }

  it.each([
    ['annotated', 'observable'],
    ['told', 'observable'],
    ['generator', 'iterable'],
    ['promised', 'promise'],
    ['twice', 'iterable'],
  ] as const)('of %s is %s', (method, shape) => {
    expect(declaredAt(Streams.prototype, method).map(({ returns }) => returns)).toEqual(method === 'twice' ? [shape, shape] : [shape]);
  });
});

describe('what cannot take a lease is refused at decoration', () => {
  const decorate = (target: object, name: string, descriptor?: PropertyDescriptor): void => {
    (WithLease('k') as MethodDecorator)(target, name, descriptor as PropertyDescriptor);
  };

  it('a static method', () => {
    class Jobs {
      static async run(): Promise<void> {}
    }
    expect(() => {
      decorate(Jobs, 'run', Object.getOwnPropertyDescriptor(Jobs, 'run'));
    }).toThrow(/static method Jobs\.run/);
    expect(() => {
      (FencingToken() as ParameterDecorator)(Jobs, 'run', 0);
    }).toThrow(/static method Jobs\.run/);
  });

  it('an accessor and a property', () => {
    class Jobs {
      get run(): Promise<void> {
        return Promise.resolve();
      }
    }
    expect(() => {
      decorate(Jobs.prototype, 'run', Object.getOwnPropertyDescriptor(Jobs.prototype, 'run'));
    }).toThrow(/not a method/);
    expect(() => {
      decorate(Jobs.prototype, 'field');
    }).toThrow(/not a method/);
  });

  it('a generator that is not async', () => {
    class Jobs {
      *run(): Generator<number> {
        yield 1;
      }
    }
    expect(() => {
      decorate(Jobs.prototype, 'run', Object.getOwnPropertyDescriptor(Jobs.prototype, 'run'));
    }).toThrow(/async \*run/);
  });

  it('a class', () => {
    class Jobs {}
    expect(() => {
      WithLease('k')(Jobs);
    }).toThrow(/stands on the class or the constructor of Jobs/);
  });

  it('a constructor’s parameter', () => {
    class Jobs {}
    expect(() => {
      (FencingToken() as ParameterDecorator)(Jobs, undefined, 0);
    }).toThrow(/the class or the constructor of Jobs/);
  });
});
