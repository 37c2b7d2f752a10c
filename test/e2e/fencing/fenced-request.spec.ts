import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Inject, Module, Param, Put, type INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import {
  Fenced,
  FencedRequest,
  fencedFetch,
  fencingHeaders,
  FENCING_GUARD,
  FencingModule,
  MemoryFencingGuard,
  REFUSED_BY_FENCE,
} from 'nestjs-lease/fencing';
import type { FencedBy } from 'nestjs-lease/fencing';

const lease = (fencingToken: number, holderTag = `h${String(fencingToken)}`): FencedBy => ({ key: 'konto:ü 7', fencingToken, holderTag });

@Controller('accounts')
class AccountsController {
  readonly writers: FencedBy[] = [];
  constructor(@Inject(FENCING_GUARD) readonly guard: MemoryFencingGuard) {}

  @Put(':id')
  @FencedRequest((req) => `account:${req.params.id ?? ''}`)
  write(@Param('id') id: string, @Fenced() by: FencedBy): string {
    this.writers.push(by);
    return id;
  }

  @Put(':id/nameless')
  @FencedRequest(() => '')
  nameless(): void {}

  @Put(':id/conflict')
  conflict(): void {}
}

@Module({ imports: [FencingModule.forRootAsync({ useFactory: () => new MemoryFencingGuard() })], controllers: [AccountsController] })
class AppModule {}

describe.each([
  ['express', () => new ExpressAdapter()],
  ['fastify', () => new FastifyAdapter()],
])('@FencedRequest on %s', (_name, adapter) => {
  let app: INestApplication;
  let url: string;
  const put = (path: string, by?: FencedBy) =>
    request(url)
      .put(path)
      .set(by ? fencingHeaders(by) : {});

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication(adapter() as never);
    app.useLogger(false);
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  });
  afterAll(() => app.close());
  beforeEach(() => void app.get(AccountsController).writers.splice(0));

  it('answers 409 with the current token to the holder that was paused, and never runs the handler', async () => {
    await put('/accounts/7', lease(33)).expect(200);
    await put('/accounts/7', lease(34)).expect(200);
    const { body } = await put('/accounts/7', lease(33)).expect(409);
    expect(body).toEqual({ statusCode: 409, code: 'FENCING_TOKEN_STALE', current: 34, message: expect.any(String) });
    await put('/accounts/7', lease(34, 'impostor')).expect(409);
    await put('/accounts/7', lease(34)).expect(200);
    await put('/accounts/8', lease(33)).expect(200);
    const writers = app.get(AccountsController).writers;
    expect(writers.map((by) => by.fencingToken)).toEqual([33, 34, 34, 33]);
    expect(writers[0]).toEqual(lease(33));
  });

  it('answers 400 to a request without a token, or with one that cannot be read', async () => {
    await put('/accounts/9').expect(400);
    for (const token of ['', '1.5', '-1', '0x10', '9007199254740993', 'abc', '1e3']) {
      const { body } = await put('/accounts/9').set('fencing-token', token).set('fencing-holder', 'h').expect(400);
      expect(body.code).toBe('LEASE_KEY_INVALID');
    }
    await put('/accounts/9', lease(1)).set('fencing-holder', 'x'.repeat(65)).expect(400);
    await put('/accounts/9', lease(1)).set('fencing-key', '%').expect(400);
    await put('/accounts/9/nameless', lease(1)).expect(400);
    expect(app.get(AccountsController).writers).toEqual([]);
  });

  it('fencedFetch sends the headers, and turns the 409 into the error that loses the lease', async () => {
    const target = `${url}/accounts/10`;
    expect((await fencedFetch(lease(34), target, { method: 'PUT', headers: { 'x-own': '1' } })).status).toBe(200);
    const refusals: unknown[] = [];
    const late = { ...lease(33), [REFUSED_BY_FENCE]: (error: unknown) => void refusals.push(error) };
    await expect(fencedFetch(late, target, { method: 'PUT' })).rejects.toMatchObject({
      code: 'FENCING_TOKEN_STALE',
      current: 34,
      fencingToken: 33,
      resource: '/accounts/10',
    });
    expect(refusals).toHaveLength(1);
    expect((await fencedFetch(lease(33), `${url}/nowhere`)).status).toBe(404);
  });
});

describe('FencingModule', () => {
  it('refuses to start without a guard', async () => {
    const start = (options: never) => Test.createTestingModule({ imports: [FencingModule.forRoot(options)] }).compile();
    await expect(start({} as never)).rejects.toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option: 'guard' });
    const broken = FencingModule.forRootAsync({ useFactory: () => undefined as never });
    await expect(Test.createTestingModule({ imports: [broken] }).compile()).rejects.toMatchObject({ option: 'guard' });
  });

  it('gives the guard to @FencedRequest and to providers; a missing module fails the start-up with a readable name', async () => {
    const guard = new MemoryFencingGuard();
    const module = await Test.createTestingModule({ imports: [FencingModule.forRoot({ guard })] }).compile();
    expect(module.get(FENCING_GUARD)).toBe(guard);
    await expect(Test.createTestingModule({ controllers: [AccountsController] }).compile()).rejects.toThrow('FencingModule.forRoot()');
  });
});
