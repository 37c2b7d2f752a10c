import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Module, Param, type INestApplicationContext, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FencingToken, injected, LeaseModule, LeaseService, MemoryLeaseStore, WithLease } from '../../../lib/index.js';
import { startNest } from '../../support/nest-app.js';

@Injectable()
class Base {
  @WithLease('account:<id>', { wait: 30 })
  async charge(id: string, @FencingToken() _token: number = injected()): Promise<string[]> {
    return Promise.resolve([`base ${id}`]);
  }
}

@Injectable()
class Accounts extends Base {
  constructor(readonly leases: LeaseService) {
    super();
  }

  @WithLease('account:<id>', { wait: 30 })
  override async charge(id: string, @FencingToken() token: number = injected()): Promise<string[]> {
    return [...(await super.charge(id, token)), ...(await this.audit(id))];
  }

  @WithLease('account:<id>', { wait: 30 })
  async audit(id: string): Promise<string[]> {
    return Promise.resolve([`audit ${id}`]);
  }

  @WithLease('account:<id>')
  async *entries(id: string): AsyncGenerator<string> {
    yield `${id} ${String((await this.leases.inspect(`account:${id}`))?.state)}`;
  }
}

@Controller()
class Orders {
  static inside = 0;
  static most = 0;
  static tokens: number[] = [];

  @Get('order/:id')
  @WithLease('order:<id>', { ttl: 60, wait: 5 })
  async run(@Param('id') id: string, @FencingToken() token: number): Promise<string> {
    Orders.most = Math.max(Orders.most, ++Orders.inside);
    Orders.tokens.push(token);
    await new Promise((resolve) => setTimeout(resolve, 20));
    Orders.inside--;
    return id;
  }
}

describe('leased calls of an application', () => {
  const open: INestApplicationContext[] = [];
  const memory = (): ReturnType<typeof LeaseModule.forRoot> =>
    LeaseModule.forRoot({ store: new MemoryLeaseStore(), shutdownGrace: '50ms' });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((app) => app.close()));
  });

  it('a method may call super and its siblings under the same key (distributed-lock#17, redis-mutex#39)', async () => {
    const { app } = await startNest({ imports: [memory()], providers: [Accounts] }, { listen: false });
    open.push(app);
    expect(await app.get(Accounts).charge('7')).toEqual(['base 7', 'audit 7']);
    expect(await app.get(LeaseService).inspect('account:7')).toBeUndefined();
  });

  it('a generator holds its lease while it is read', async () => {
    const { app } = await startNest({ imports: [memory()], providers: [Accounts] }, { listen: false });
    open.push(app);
    const entries: string[] = [];
    for await (const entry of app.get(Accounts).entries('7')) entries.push(entry);
    expect(entries).toEqual(['7 held']);
    expect(await app.get(LeaseService).inspect('account:7')).toBeUndefined();
  });

  it('two requests for one key never run together, and each has a higher token (murlock#33)', async () => {
    const { app, url } = await startNest({ imports: [memory()], controllers: [Orders] });
    open.push(app);
    await Promise.all(Array.from({ length: 5 }, () => fetch(`${url}/order/1`).then((answer) => answer.text())));
    expect(Orders.most).toBe(1);
    expect(Orders.tokens).toHaveLength(5);
    expect(Orders.tokens).toEqual([...new Set(Orders.tokens)].sort((a, b) => a - b));
  });

  it('needs no request: works in onModuleInit and in an application without HTTP, released from another async chain (murlock#40, murlock#18)', async () => {
    @Injectable()
    class Early implements OnModuleInit {
      state: string | undefined;
      constructor(readonly leases: LeaseService) {}
      async onModuleInit(): Promise<void> {
        this.state = await this.leases.withLease('k', async () => (await this.leases.inspect('k'))?.state);
      }
    }
    @Module({ imports: [memory()], providers: [Early] })
    class App {}
    const app = await NestFactory.createApplicationContext(App, { logger: false });
    open.push(app);
    expect(app.get(Early).state).toBe('held');
    const lease = await app.get(LeaseService).acquire('k');
    const released = await new Promise<boolean>((resolve) => setTimeout(() => void lease.release().then(resolve), 1));
    expect(released).toBe(true);
  });

  it('what a key is made of is the template alone: two classes and acquire() exclude each other (murlock#21)', async () => {
    const { app, url } = await startNest({ imports: [memory()], controllers: [Orders] });
    open.push(app);
    await using _lease = await app.get(LeaseService).acquire('order:9', { ttl: 60 });
    await expect(app.get(LeaseService).withLease('order:9', () => 1)).rejects.toMatchObject({ code: 'LEASE_BUSY' });
    const client = new AbortController();
    const answer = fetch(`${url}/order/9`, { signal: client.signal });
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  });
});
