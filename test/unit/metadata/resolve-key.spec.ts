import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Body, createParamDecorator, Headers, Ip, Param, Query, Req, Res, Session } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { ConnectedSocket, MessageBody } from '@nestjs/websockets';
import { CurrentLease } from '../../../lib/decorators/current-lease.decorator.js';
import { FencingToken } from '../../../lib/decorators/fencing-token.decorator.js';
import { LeaseKey } from '../../../lib/decorators/lease-key.decorator.js';
import { WithLease } from '../../../lib/decorators/with-lease.decorator.js';
import { bindExecutor } from '../../../lib/metadata/bind-executor.js';
import { declaredAt } from '../../../lib/metadata/declaration.js';
import { FakeExecutor } from './fake-executor.js';

/* eslint-disable @typescript-eslint/no-unused-vars -- parameters are there to be looked at */

type Handler = new () => { run(...args: any[]): Promise<unknown> };
type Resolve = (...args: unknown[]) => Promise<string>;

/** The key that a call of `run` takes. */
function keyOf(handler: Handler): Resolve {
  return async (...args) => {
    const executor = new FakeExecutor();
    const instance = new handler();
    bindExecutor(instance, executor);
    await instance.run(...args);
    return executor.keys[0] as string;
  };
}

const User = createParamDecorator((property: string) => property);
const check = (handler: Handler): void =>
  declaredAt(handler.prototype as object, 'run').forEach(({ key }) => {
    key.check();
  });

describe('what fills a placeholder', () => {
  it('first: the parameter marked @LeaseKey, whatever else has the name', async () => {
    class H {
      @WithLease('k:<id>')
      async run(@Param('id') route: string, @LeaseKey('id') meant: string, id: string): Promise<void> {}
    }
    expect(await keyOf(H)('route', 'meant', 'source')).toBe('k:meant');
  });

  it('then: the one parameter decorated with that property', async () => {
    class H {
      @WithLease('k:<id>:<page>:<name>')
      async run(@Query('page') p: number, @Body('name') n: string, @Param('id') i: string, id: string): Promise<void> {}
    }
    expect(await keyOf(H)(2, 'n', 'i', 'source')).toBe('k:i:2:n');
  });

  it('two such are an error at decoration that shows the ways out', () => {
    expect(() => {
      class H {
        @WithLease('k:<id>')
        async run(@Param('id') a: string, @Query('id') b: string): Promise<void> {}
      }
      return H;
    }).toThrow(/either of two parameters.*@LeaseKey\('id'\).*<0> or <1>/);
  });

  it('two such are none of the lease’s business when the key does not ask for the name, or @LeaseKey decides', async () => {
    class H {
      @WithLease('k:<other>:<0>')
      async run(@Param('id') a: string, @Query('id') b: string, @Body('other') c: string): Promise<void> {}
    }
    expect(await keyOf(H)('a', 'b', 'c')).toBe('k:c:a');
    class G {
      @WithLease('k:<id>')
      async run(@Param('id') a: string, @LeaseKey('id') @Query('id') b: string): Promise<void> {}
    }
    expect(await keyOf(G)('a', 'b')).toBe('k:b');
  });

  it('never a custom decorator or a header', async () => {
    class H {
      @WithLease('k:<id>')
      async run(@User('id') user: string, @Headers('id') header: string, @Param('id') route: string): Promise<void> {}
    }
    expect(await keyOf(H)('user', 'header', 'route')).toBe('k:route');
    class G {
      @WithLease('k:<id>')
      async run(@User('id') user: string, @Headers('id') header: string): Promise<void> {}
    }
    expect(() => {
      check(G);
    }).toThrow(/cannot be filled by any parameter.*@LeaseKey\('id'\).*<0>/);
  });

  it.each<[string, () => Handler]>([
    [
      '@Payload',
      () => {
        class H {
          @WithLease('k:<id>')
          async run(@Ctx() c: object, @Payload('id') x: string, @Payload('n') y: string): Promise<void> {}
        }
        return H;
      },
    ],
    [
      '@MessageBody',
      () => {
        class H {
          @WithLease('k:<id>')
          async run(@ConnectedSocket() c: object, @MessageBody('id') x: string, @MessageBody('n') y: string): Promise<void> {}
        }
        return H;
      },
    ],
  ])('reads %s of message handlers', async (_, make) => {
    expect(await keyOf(make())({}, 'x', 'y')).toBe('k:x');
  });

  it('reads GraphQL’s @Args, which keeps the same metadata', async () => {
    const Args =
      (name: string): ParameterDecorator =>
      (target, method, index) => {
        const before = (Reflect.getMetadata('__routeArguments__', target.constructor, method as string) ?? {}) as object;
        Reflect.defineMetadata(
          '__routeArguments__',
          { ...before, [`3:${String(index)}`]: { index, data: name, pipes: [] } },
          target.constructor,
          method as string,
        );
      };
    class H {
      @WithLease('k:<id>')
      async run(@Args('name') n: string, @Args('id') i: string): Promise<void> {}
    }
    expect(await keyOf(H)('n', 'i')).toBe('k:i');
  });

  it('then: the only parameter of the caller’s own, its property or itself', async () => {
    class H {
      @WithLease('k:<id>')
      async run(accountId: unknown, @FencingToken() token?: number, @CurrentLease() lease?: object): Promise<void> {}
    }
    expect(await keyOf(H)('7')).toBe('k:7');
    expect(await keyOf(H)({ id: 8, accountId: 9 })).toBe('k:8');
    await expect(keyOf(H)({ accountId: 9 })).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
    await expect(keyOf(H)()).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
  });

  it('which is no request, response, session, address, context or custom parameter', async () => {
    class H {
      @WithLease('k:<id>')
      async run(
        @Req() a: object,
        @Res() b: object,
        @Session() c: object,
        @Ip() d: string,
        @User() user: object,
        @Body() dto: { id: string },
      ): Promise<void> {}
    }
    expect(await keyOf(H)({ id: 1 }, { id: 2 }, { id: 3 }, '::1', { id: 4 }, { id: 5 })).toBe('k:5');
  });

  it('reads own properties of the body only', async () => {
    class H {
      @WithLease('k:<constructor>')
      async run(@Body() dto: object): Promise<void> {}
    }
    await expect(keyOf(H)({})).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
  });

  it('last: a source parameter of the name', async () => {
    class H {
      @WithLease('k:<tenant>:<user.id>')
      async run(tenant: string, user: { id: number }): Promise<void> {}
    }
    expect(await keyOf(H)('t', { id: 3 })).toBe('k:t:3');
  });

  it('a path may begin with the name of the only parameter', async () => {
    class H {
      @WithLease('k:<user.id>')
      async run(user: { id: number }): Promise<void> {}
    }
    expect(await keyOf(H)({ id: 3 })).toBe('k:3');
    expect(await keyOf(H)({ id: 3, user: { id: 4 } })).toBe('k:4');
  });

  it('not by a source name of one letter, which a minifier may have given to anything (react-lazy-cache#1)', () => {
    class H {
      @WithLease('k:<a>')
      async run(a: string, b: string): Promise<void> {}
    }
    expect(() => {
      check(H);
    }).toThrow(/<a> of the key 'k:<a>' of H.run cannot be filled/);
  });

  it('not by destructured or rest parameters; defaulted ones have their name (react-lazy-cache#1)', async () => {
    class Destructured {
      @WithLease('k:<id>')
      async run({ id }: { id: string }, other: string): Promise<void> {}
    }
    expect(() => {
      check(Destructured);
    }).toThrow(/cannot be filled/);
    class Rest {
      @WithLease('k:<ids>')
      async run(...ids: string[]): Promise<void> {}
    }
    expect(() => {
      check(Rest);
    }).toThrow(/cannot be filled/);
    class Defaulted {
      @WithLease('k:<tenant>:<id>')
      async run(tenant = 'x', { id } = { id: 1 }, ...rest: string[]): Promise<void> {}
    }
    expect(() => {
      check(Defaulted);
    }).toThrow(/<id>/);
    class Plain {
      @WithLease('k:<tenant>:<1.id>')
      async run(tenant = 'x', { id } = { id: 1 }): Promise<void> {}
    }
    expect(await keyOf(Plain)('t', { id: 5 })).toBe('k:t:5');
    await expect(keyOf(Plain)(undefined, { id: 5 })).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
  });

  it('positions count the caller’s arguments', async () => {
    class H {
      @WithLease('k:<1>:<0.id>')
      async run({ id }: { id: string }, b: number, @FencingToken() token: number): Promise<void> {}
    }
    expect(await keyOf(H)({ id: 'x' }, 0)).toBe('k:0:x');
  });

  it.each<[string, () => Handler]>([
    [
      'a position past the last parameter',
      () => {
        class H {
          @WithLease('k:<2>')
          async run(a: string, b: string): Promise<void> {}
        }
        return H;
      },
    ],
    [
      'a position that the lease itself fills',
      () => {
        class H {
          @WithLease('k:<1>')
          async run(a: string, @FencingToken() b: number): Promise<void> {}
        }
        return H;
      },
    ],
    [
      'a name of nobody',
      () => {
        class H {
          @WithLease('k:<orderId>')
          async run(a: string, b: string): Promise<void> {}
        }
        return H;
      },
    ],
    [
      'a name without parameters',
      () => {
        class H {
          @WithLease('k:<id>')
          async run(): Promise<void> {}
        }
        return H;
      },
    ],
  ])('%s is an error that start-up finds', async (_, make) => {
    const handler = make();
    expect(() => {
      check(handler);
    }).toThrow(expect.objectContaining({ code: 'LEASE_OPTIONS_INVALID' }));
    await expect(keyOf(handler)('x', 'y', 'z')).rejects.toMatchObject({ code: 'LEASE_OPTIONS_INVALID' });
  });

  it('names survive a second lease on the same method', async () => {
    class H {
      @WithLease('outer:<tenant>')
      @WithLease('inner:<tenant>:<id>')
      async run(tenant: string, id: string): Promise<void> {}
    }
    const executor = new FakeExecutor();
    const instance = new H();
    bindExecutor(instance, executor);
    await instance.run('t', 'i');
    expect(executor.keys).toEqual(['outer:t', 'inner:t:i']);
  });

  it('parameter decorators survive a decorator below that replaces the method', async () => {
    const Traced: MethodDecorator = (_target, _method, descriptor) => {
      const original = descriptor.value as (...args: unknown[]) => unknown;
      descriptor.value = function (this: unknown, ...args: unknown[]) {
        return original.apply(this, args);
      } as never;
    };
    class H {
      @WithLease('k:<id>:<0>')
      @Traced
      async run(@Query('x') x: string, @Param('id') i: string): Promise<void> {}
    }
    expect(await keyOf(H)('x', 'i')).toBe('k:i:x');
    class OnlyOne {
      @WithLease('k:<id>')
      @Traced
      async run(@Body() dto: { id: string }, @FencingToken() token: number): Promise<void> {}
    }
    expect(await keyOf(OnlyOne)({ id: 4 })).toBe('k:4');
  });
});

describe('a key function', () => {
  it('gets the arguments of the caller', async () => {
    class H {
      @WithLease((a: string, b: number) => `k:${a}/${String(b)}`)
      async run(a: string, b: number, @FencingToken() token?: number): Promise<void> {}
    }
    expect(await keyOf(H)('x', 2)).toBe('k:x/2');
  });

  it.each([[''], [undefined], [null], [7], [{}], [Promise.resolve('x')]])(
    'that returns %p fails the call before the body',
    async (result) => {
      let ran = false;
      class H {
        @WithLease((() => result) as () => string)
        async run(): Promise<void> {
          ran = true;
        }
      }
      await expect(keyOf(H)()).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
      expect(ran).toBe(false);
    },
  );
});
