import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Module, Param, Scope, type OnModuleInit } from '@nestjs/common';
import { ContextIdFactory, REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  FencingToken,
  injected,
  InjectLeaseService,
  LeaseEvents,
  LeaseKey,
  leaseKey,
  LeaseModule,
  LeaseService,
  MemoryLeaseStore,
  WithLease,
} from '../../../lib/index.js';
import { closeFailed } from '../../support/nest-app.js';
import { waitFor } from '../../support/wait-for.js';
import { acquiredKeys, startLeases } from './rig.js';

@Injectable()
class Reports {
  @WithLease('account:<id>')
  async settle(id: string, @FencingToken() token: number = injected()): Promise<string> {
    return Promise.resolve(`${id}:${String(token > 0)}`);
  }

  async settleAll(ids: string[]): Promise<string[]> {
    return Promise.all(ids.map((id) => this.settle(id)));
  }
}

describe('a leased method of a provider takes its lease (nest#615)', () => {
  @Injectable()
  class Caller {
    constructor(private readonly reports: Reports) {}
    call(id: string): Promise<string> {
      return this.reports.settle(id);
    }
  }
  @Controller()
  class Entry {
    constructor(private readonly reports: Reports) {}
    @Get(':id')
    run(@Param('id') id: string): Promise<string> {
      return this.reports.settle(id);
    }
  }

  it('when a controller, another provider, this.m(), or a bound function in a timer calls it', async () => {
    await using rig = await startLeases({ providers: [Reports, Caller], controllers: [Entry] });
    const reports = rig.app.get(Reports);
    expect(await (await fetch(`${rig.url}/1`)).text()).toBe('1:true');
    expect(await rig.app.get(Caller).call('2')).toBe('2:true');
    expect(await reports.settleAll(['3', '4'])).toEqual(['3:true', '4:true']);
    const settle: () => unknown = reports.settle.bind(reports, '5');
    const timer = setInterval(settle, 1);
    await waitFor(() => rig.keys.includes('account:5'));
    clearInterval(timer);
    expect(new Set(rig.keys)).toEqual(new Set(['1', '2', '3', '4', '5'].map((id) => `account:${id}`)));
  });

  it('in onModuleInit, outside any request (murlock#40, murlock#18)', async () => {
    let result = '';
    @Injectable()
    class Early implements OnModuleInit {
      constructor(private readonly reports: Reports) {}
      async onModuleInit(): Promise<void> {
        result = await this.reports.settle('early');
      }
    }
    await using _rig = await startLeases({ providers: [Reports, Early] });
    expect(result).toBe('early:true');
  });

  it('and a call that comes too early, in the constructor or on a factory’s instance before init, fails clearly', async () => {
    let early: Promise<unknown> | undefined;
    class TooEarly {
      constructor() {
        early = this.run();
        early.catch(() => undefined);
      }
      @WithLease('job')
      async run(): Promise<string> {
        return Promise.resolve('ran');
      }
    }
    const module = await Test.createTestingModule({
      imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })],
      providers: [TooEarly, { provide: Reports, useFactory: () => new Reports() }],
    }).compile();
    await expect(early).rejects.toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      message: expect.stringMatching(/TooEarly\.run.*constructor/) as unknown,
    });
    await expect(module.get(Reports).settle('x')).rejects.toMatchObject({ code: 'LEASE_OPTIONS_INVALID' });
    await module.init();
    expect([await module.get(TooEarly).run(), await module.get(Reports).settle('x')]).toEqual(['ran', 'x:true']);
    await module.close();
  });

  it('also on the instances of useFactory, useValue and useExisting (nestjs-cls#224, nestjs-saop#31)', async () => {
    const value = new Reports();
    await using rig = await startLeases({
      providers: [
        { provide: 'factory', useFactory: () => new Reports() },
        { provide: 'value', useValue: value },
        { provide: 'existing', useExisting: 'factory' },
      ],
    });
    for (const token of ['factory', 'value', 'existing']) expect(await rig.app.get<Reports>(token).settle(token)).toBe(`${token}:true`);
    expect(rig.keys).toEqual(['account:factory', 'account:value', 'account:existing']);
    await expect(new Reports().settle('x')).rejects.toThrow(/bindLease/);
  });

  it('on a factory’s instance even in the onModuleInit of a module far below', async () => {
    let result = '';
    @Injectable()
    class Early implements OnModuleInit {
      constructor(private readonly reports: Reports) {}
      async onModuleInit(): Promise<void> {
        result = await this.reports.settle('deep');
      }
    }
    @Module({ providers: [Early, { provide: Reports, useFactory: () => new Reports() }] })
    class Depth4 {}
    @Module({ imports: [Depth4] })
    class Depth3 {}
    @Module({ imports: [Depth3] })
    class Depth2 {}
    @Module({ imports: [Depth2] })
    class Depth1 {}
    await using _rig = await startLeases({ imports: [Depth1] });
    expect(result).toBe('deep:true');
  });
});

describe('scopes', () => {
  it('a request-scoped controller keeps its own this and is asked for its lease each time (schedule#505)', async () => {
    const tokens: number[] = [];
    @Controller({ path: 'r', scope: Scope.REQUEST })
    class PerRequest {
      constructor(@Inject(REQUEST) private readonly request: { url: string }) {}
      @Get(':id')
      @WithLease('r:<id>')
      async run(@Param('id') id: string, @FencingToken() token: number): Promise<string> {
        tokens.push(token);
        return Promise.resolve(`${this.request.url} ${id}`);
      }
    }
    await using rig = await startLeases({ controllers: [PerRequest] });
    expect(await (await fetch(`${rig.url}/r/1`)).text()).toBe('/r/1 1');
    expect(await (await fetch(`${rig.url}/r/1`)).text()).toBe('/r/1 1');
    expect(rig.keys).toEqual(['r:1', 'r:1']);
    expect(tokens[1]).toBeGreaterThan(tokens[0] as number);
  });

  it('a provider that merely takes leases stays a singleton', async () => {
    await using rig = await startLeases({ providers: [Reports] });
    expect(rig.app.get(Reports)).toBe(rig.app.get(Reports));
    const contextId = ContextIdFactory.create();
    expect(await rig.app.resolve(Reports, contextId)).toBe(rig.app.get(Reports));
  });

  it('transient and durable providers take theirs', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient extends Reports {}
    @Injectable({ scope: Scope.REQUEST, durable: true })
    class Durable extends Reports {}
    await using rig = await startLeases({ providers: [Transient, Durable] });
    const instances = await Promise.all([rig.app.resolve(Transient), rig.app.resolve(Transient), rig.app.resolve(Durable)]);
    expect(new Set(instances).size).toBe(3);
    for (const instance of instances) expect(await instance.settle('x')).toBe('x:true');
  });
});

describe('inheritance', () => {
  abstract class Base {
    abstract readonly kind: string;
    @WithLease('<0>:base')
    async run(id: string, @FencingToken() token: number = injected()): Promise<[string, number]> {
      return Promise.resolve([`${this.kind} ${id}`, token]);
    }
  }
  @Injectable()
  class Plain extends Base {
    readonly kind = 'plain';
  }
  @Injectable()
  class Same extends Base {
    readonly kind = 'same';
    @WithLease('<0>:base')
    override async run(id: string, token: number = injected()): Promise<[string, number]> {
      const [text, inner] = await super.run(id);
      return [`${text}, ${inner === token ? 'shared' : 'own'}`, token];
    }
  }
  @Injectable()
  class Other extends Base {
    readonly kind = 'other';
    @WithLease('<0>:other')
    override async run(id: string, token: number = injected()): Promise<[string, number]> {
      const [text, inner] = await super.run(id);
      return [`${text}, ${inner === token ? 'shared' : 'own'}`, token];
    }
  }

  it('a subclass of an abstract class takes the inherited lease', async () => {
    await using rig = await startLeases({ providers: [Plain] });
    expect([await rig.app.get(Plain).run('x'), rig.keys]).toEqual([['plain x', expect.any(Number)], ['x:base']]);
  });

  it('an override with the same key shares its lease with super instead of waiting for itself (distributed-lock#17, redis-mutex#39)', async () => {
    await using rig = await startLeases({ providers: [Same] });
    expect([await rig.app.get(Same).run('x'), rig.keys]).toEqual([['same x, shared', expect.any(Number)], ['x:base']]);
  });

  it('an override with another key holds both', async () => {
    await using rig = await startLeases({ providers: [Other] });
    expect([(await rig.app.get(Other).run('x'))[0].slice(0, 7), rig.keys]).toEqual(['other x', ['x:other', 'x:base']]);
  });

  it('an override that drops the decorator stops the start-up', async () => {
    class Dropping extends Plain {
      override async run(id: string): Promise<[string, number]> {
        return Promise.resolve([id, 0]);
      }
    }
    await expect(startLeases({ providers: [Dropping] })).rejects.toMatchObject({ code: 'LEASE_OPTIONS_INVALID' });
  });
});

describe('the key', () => {
  it('is what the template says, so that two classes and imperative code exclude each other (murlock#21)', async () => {
    @Injectable()
    class Cancellations {
      @WithLease('order:{id}', { reentry: 'error' })
      async cancel(@LeaseKey('id') order: string): Promise<string> {
        return Promise.resolve(order);
      }
    }
    @Injectable()
    class Orders {
      constructor(private readonly other: Cancellations) {}
      @WithLease('order:<id>')
      async ship(id: string): Promise<string> {
        return this.other.cancel(id).catch((error: unknown) => (error as { code: string }).code);
      }
    }
    await using rig = await startLeases({ providers: [Orders, Cancellations] });
    const leases = rig.app.get(LeaseService);
    expect(leaseKey('order:<id>', { id: 1 })).toBe('order:1');
    await using _held = await leases.acquire(leaseKey('order:<id>', { id: 1 }));
    await expect(rig.app.get(Orders).ship('1')).rejects.toMatchObject({ code: 'LEASE_BUSY' });
    await expect(rig.app.get(Cancellations).cancel('1')).rejects.toMatchObject({ code: 'LEASE_BUSY' });
    expect(await rig.app.get(Cancellations).cancel('2')).toBe('2');
    // Inside its own lease the nested call says so at once, since it asked for `reentry: 'error'`.
    expect(await rig.app.get(Orders).ship('3')).toBe('LEASE_BUSY');
  });
});

describe('applications and services', () => {
  it('two applications in one process, with the same class, each use their own store', async () => {
    await using one = await startLeases({ providers: [Reports] });
    await using two = await startLeases({ providers: [Reports] });
    await using _held = await one.app.get(LeaseService).acquire('account:x');
    await expect(one.app.get(Reports).settle('x')).rejects.toMatchObject({ code: 'LEASE_BUSY' });
    expect(await two.app.get(Reports).settle('x')).toBe('x:true');
    expect([one.keys, two.keys]).toEqual([['account:x'], ['account:x']]);
  });

  it('two services in one application each grant their own', async () => {
    @Injectable()
    class Both {
      constructor(
        @InjectLeaseService() readonly main: LeaseService,
        @InjectLeaseService('billing') readonly billing: LeaseService,
      ) {}
      @WithLease('k')
      async inMain(): Promise<string> {
        return Promise.resolve('main');
      }
      @WithLease('k', { service: 'billing' })
      async inBilling(): Promise<string> {
        return Promise.resolve('billing');
      }
    }
    await using rig = await startLeases({
      imports: [LeaseModule.forRoot({ name: 'billing', store: new MemoryLeaseStore() })],
      providers: [Both],
    });
    const both = rig.app.get(Both);
    expect(both.main).toBe(rig.app.get(LeaseService));
    expect(both.main).not.toBe(both.billing);
    await using _held = await both.billing.acquire('k');
    expect(await both.inMain()).toBe('main');
    await expect(both.inBilling()).rejects.toMatchObject({ code: 'LEASE_BUSY' });
  });

  it('the module imported twice stops the start-up, naming both imports (schedule#1417, docs.nestjs.com#3538)', async () => {
    @Module({ imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })] })
    class FeatureModule {}
    @Module({ imports: [LeaseModule.forRootAsync({ useFactory: () => ({ store: new MemoryLeaseStore() }) }), FeatureModule] })
    class RootModule {}
    const module = await Test.createTestingModule({ imports: [RootModule] }).compile();
    await expect(module.init()).rejects.toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      message: expect.stringMatching(/registered 2 times.*RootModule and FeatureModule/) as unknown,
    });
    await closeFailed(module);
  });

  it('without LeaseModule the start-up fails and says what to import', async () => {
    await expect(Test.createTestingModule({ providers: [Reports] }).compile()).rejects.toThrow(/import LeaseModule\.forRoot\(\)/);
  });
});

describe('several leases on one method', () => {
  it('are held together, outermost first, and released', async () => {
    @Injectable()
    class Transfers {
      @WithLease('account:<from>')
      @WithLease('account:<to>')
      async move(from: string, to: string): Promise<string> {
        return Promise.resolve(`${from}>${to}`);
      }
    }
    await using rig = await startLeases({ providers: [Transfers] });
    const released: string[] = [];
    rig.app.get(LeaseEvents).on('released', ({ key }) => {
      released.push(key);
    });
    expect(await rig.app.get(Transfers).move('a', 'b')).toBe('a>b');
    await waitFor(() => released.length === 2);
    expect([rig.keys, released]).toEqual([
      ['account:a', 'account:b'],
      ['account:b', 'account:a'],
    ]);
    expect(acquiredKeys(rig.app)).toEqual([]);
    expect(await rig.app.get(Transfers).move('a', 'a')).toBe('a>a');
  });
});
