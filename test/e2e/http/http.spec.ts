import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Catch,
  ConflictException,
  Controller,
  Get,
  HttpException,
  Param,
  Query,
  Sse,
  UseFilters,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { get } from 'node:http';
import { interval, map, of, type Observable } from 'rxjs';
import { CurrentLease, FencingToken, Lease, LeaseModule, LeaseService, MemoryLeaseStore, WithLease } from '../../../lib/index.js';
import { FaultyLeaseStore } from '../../../lib/testing/index.js';
import { startNest, type NestApp } from '../../support/nest-app.js';
import { waitFor } from '../../support/wait-for.js';

@Catch(HttpException)
class OwnFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(error: HttpException, host: ArgumentsHost): void {
    this.host.httpAdapter.reply(
      host.switchToHttp().getResponse(),
      { own: true, code: (error as { code?: string }).code },
      error.getStatus(),
    );
  }
}

@Controller()
class Jobs {
  static ran: string[] = [];

  @Get('run/:id')
  @WithLease('job:<id>', { ttl: 60 })
  async run(@Param('id') id: string, @FencingToken() token: number): Promise<object> {
    return Promise.resolve({ id, fenced: token > 0 });
  }

  @Get('query')
  @WithLease('job:<id>')
  async query(@Query('id') id: string): Promise<string> {
    return Promise.resolve(id);
  }

  @Get('own/:id')
  @WithLease('job:<id>')
  @UseFilters(OwnFilter)
  async own(@Param('id') id: string): Promise<string> {
    return Promise.resolve(id);
  }

  @Get('wait/:id')
  @WithLease('job:<id>', { wait: 60 })
  async wait(@Param('id') id: string): Promise<string> {
    Jobs.ran.push(id);
    return Promise.resolve(id);
  }

  @Get('lose/:id')
  @WithLease('job:<id>', { ttl: '300ms' })
  async lose(@Param('id') _id: string, @CurrentLease() lease: Lease): Promise<void> {
    await lease.lost;
  }

  @Get('conflict/:id')
  @WithLease('job:<id>')
  async conflict(@Param('id') id: string): Promise<void> {
    await Promise.reject(new ConflictException(`own conflict ${id}`));
  }

  @Get('observable/:id')
  @WithLease('job:<id>')
  observable(@Param('id') id: string): Observable<string> {
    return of(id, `${id} last`);
  }

  @Sse('sse/:id')
  @WithLease('job:<id>')
  sse(@Param('id') id: string): Observable<{ data: string }> {
    return interval(10).pipe(map((n) => ({ data: `${id} ${String(n)}` })));
  }
}

describe.each(['express', 'fastify'] as const)('HTTP on %s', (adapter) => {
  let booted: NestApp;
  let leases: LeaseService;
  let store: FaultyLeaseStore;
  const ask = async (path: string): Promise<{ status: number; retryAfter: string | null; body: unknown }> => {
    const answer = await fetch(`${booted.url}/${path}`);
    const text = await answer.text();
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: text.startsWith('{') ? JSON.parse(text) : text };
  };

  beforeEach(async () => {
    store = new FaultyLeaseStore(new MemoryLeaseStore());
    Jobs.ran = [];
    booted = await startNest({ imports: [LeaseModule.forRoot({ store, shutdownGrace: '50ms' })], controllers: [Jobs] }, { adapter });
    leases = booted.app.get(LeaseService);
  });
  afterEach(() => booted.app.close());

  it('runs under the lease', async () => {
    expect(await ask('run/1')).toEqual({ status: 200, retryAfter: null, body: { id: '1', fenced: true } });
  });

  it('busy is 409 with Retry-After, and tells neither key nor holder (Locker#19, richdocuments#6054)', async () => {
    await using _lease = await leases.acquire('job:1', { ttl: '1500ms' });
    const { status, retryAfter, body } = await ask('run/1');
    expect([status, retryAfter]).toEqual([409, '2']);
    expect(body).toEqual({ statusCode: 409, code: 'LEASE_BUSY', message: expect.any(String), retryAfterMs: expect.any(Number) });
    expect(JSON.stringify(body)).not.toMatch(/job:1|:\d+"/);
  });

  it('busy is the same for the filter of a user, Retry-After included', async () => {
    await using _lease = await leases.acquire('job:1', { ttl: 5 });
    expect(await ask('own/1')).toEqual({ status: 409, retryAfter: '5', body: { own: true, code: 'LEASE_BUSY' } });
  });

  it('an unavailable store is 503, a lost lease 503, a bad key 400 (node-redlock#185, node-redlock#284)', async () => {
    store.fail('acquire', new Error('ECONNREFUSED'));
    expect(await ask('run/1')).toMatchObject({ status: 503, body: { code: 'LEASE_UNAVAILABLE' } });
    const losing = ask('lose/1');
    await waitFor(() => leases.forceRelease('job:1'));
    expect(await losing).toMatchObject({ status: 503, body: { code: 'LEASE_LOST' } });
    expect(await ask('query')).toMatchObject({ status: 400, retryAfter: null, body: { code: 'LEASE_KEY_INVALID' } });
  });

  it("a handler's own error is its own, without Retry-After of ours (node-redlock#369)", async () => {
    store.fail('release', new Error('ECONNRESET'));
    expect(await ask('conflict/1')).toMatchObject({ status: 409, retryAfter: null, body: { message: 'own conflict 1' } });
  });

  it('an Observable answers with its last value, and frees the key', async () => {
    expect(await ask('observable/7')).toMatchObject({ status: 200, body: '7 last' });
    expect(await leases.inspect('job:7')).toBeUndefined();
    await using _lease = await leases.acquire('job:7', { ttl: 5 });
    expect(await ask('observable/7')).toMatchObject({ status: 409, retryAfter: '5', body: { code: 'LEASE_BUSY' } });
  });

  it('server-sent events hold the lease until the client goes away', async () => {
    const client = new AbortController();
    const answer = await fetch(`${booted.url}/sse/1`, { signal: client.signal });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('data: 1 0')) text += new TextDecoder().decode((await reader.read()).value);
    expect((await leases.inspect('job:1'))?.state).toBe('held');
    client.abort();
    await waitFor(async () => (await leases.inspect('job:1')) === undefined);
  });

  it('a wait ends when the client goes away: the lease goes to nobody', async () => {
    const lease = await leases.acquire('job:1', { ttl: 60 });
    const client = get(`${booted.url}/wait/1`);
    client.on('error', () => undefined);
    const polls = (): number => store.calls('acquire').length;
    await waitFor(() => polls() > 2);
    client.destroy();
    await waitFor(async () => {
      const before = polls();
      await new Promise((resolve) => setTimeout(resolve, 300));
      return polls() === before;
    });
    await lease.release();
    expect(Jobs.ran).toEqual([]);
  });

  it('a wait of a client that stays is served, and leaves no listener on the response', async () => {
    const lease = await leases.acquire('job:1', { ttl: 60 });
    const answer = ask('wait/1');
    await waitFor(() => store.calls('acquire').length > 2);
    await lease.release();
    expect(await answer).toMatchObject({ status: 200, body: '1' });
  });
});
