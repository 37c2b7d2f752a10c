import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';
import { ask, errorOf, Rig, take } from './rig.js';

describe('a Redis store in trouble', () => {
  const rig = new Rig();
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeAll(() => void process.on('unhandledRejection', note));
  afterEach(() => expect(unhandled).toEqual([]));
  afterAll(() => void process.off('unhandledRejection', note));

  it('starts without Redis, waits for it, and rejects as transient when it does not come (node-redlock#283)', async () => {
    const server = await RedisServer.start();
    await server.kill();
    const store = rig.store({ connection: server.url, patienceMs: 150 });
    const started = performance.now();
    const error = await errorOf(store.acquire(ask()));
    expect(error).toMatchObject({
      name: 'StoreError',
      kind: 'transient',
      message: expect.stringContaining('ECONNREFUSED') as unknown as string,
    });
    expect(performance.now() - started).toBeLessThan(2000);
    expect(await errorOf(store.ping())).toMatchObject({ kind: 'transient' });
    const patient = rig.store({ connection: server.url });
    const waiting = take(patient);
    await server.restart();
    await waiting;
    await waitFor(() => take(store).then(() => true));
    await server.stop();
  });

  it('works again when Redis is back, without a restart of ours (ioredis#144)', async () => {
    const server = await RedisServer.start();
    const store = rig.store({ connection: server.url });
    const held = await take(store);
    await server.restart();
    expect(await waitFor(() => store.renew([held]))).toEqual([{ kind: 'gone' }]);
    expect((await take(store, held.key)).fencingToken).toBeGreaterThan(held.fencingToken);
    await server.stop();
  });

  it('rejects what is in flight when the connection breaks, and never sends it later', async () => {
    const proxy = await TcpProxy.start(rig.server);
    const store = rig.store({ connection: proxy.url });
    await store.ping();
    proxy.drop('request');
    const request = ask();
    const call = errorOf(store.acquire(request));
    // The request has left; nothing tells us so but the time that a turn takes.
    await new Promise((resolve) => setImmediate(resolve));
    proxy.cut().pass();
    expect(await call).toMatchObject({
      kind: 'transient',
      message: expect.stringContaining('broke before the answer') as unknown as string,
    });
    await store.ping();
    expect(await store.inspect(request.key)).toBeUndefined();
    await proxy.stop();
  });

  it('replaces a half-open connection after two calls without an answer', async () => {
    const proxy = await TcpProxy.start(rig.server);
    const store = rig.store({ connection: proxy.url });
    await take(store);
    proxy.halfOpen();
    const calls = [errorOf(store.acquire(ask())), errorOf(store.acquire(ask()))];
    proxy.pass();
    store.unanswered();
    store.unanswered();
    for (const error of await Promise.all(calls)) expect(error.kind).toBe('transient');
    await take(store);
    expect(proxy.connections).toBe(2);
    await proxy.stop();
  });

  it('does not replace a connection that answered in between', async () => {
    const proxy = await TcpProxy.start(rig.server);
    const store = rig.store({ connection: proxy.url });
    for (let i = 0; i < 3; i++) {
      await take(store);
      store.unanswered();
    }
    await take(store);
    expect(proxy.connections).toBe(1);
    await proxy.stop();
  });

  it('replaces a new connection too that is never greeted', async () => {
    const proxy = await TcpProxy.start(rig.server);
    proxy.halfOpen();
    const store = rig.store({ connection: proxy.url });
    const call = take(store);
    await waitFor(() => proxy.open === 1);
    proxy.pass();
    const gaveUp = (): boolean => {
      if (proxy.connections > 1) return true;
      store.unanswered();
      return false;
    };
    // Rarely, so that the next connection has time to be greeted.
    await waitFor(gaveUp, { intervalMs: 200 });
    await call;
    await proxy.stop();
  });

  it('keeps the order of an acquire and its undoing while there is no connection', async () => {
    const server = await RedisServer.start();
    await server.kill();
    const store = rig.store({ connection: server.url });
    const requests = [ask(), ask(), ask()];
    const calls = requests.flatMap((request) => [store.acquire(request), store.leave(request)]);
    const later = [ask(), ask()];
    const undone = [...later.map((request) => store.acquire(request)), store.leave(later[0] as never)];
    await server.restart();
    await Promise.all([...calls, ...undone]);
    expect(await Promise.all([...requests, ...later].map(async ({ key }) => (await store.inspect(key))?.key))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      later[1]?.key,
    ]);
    await server.stop();
  });

  it('survives SCRIPT FLUSH between all verbs (redis-semaphore#24)', async () => {
    const store = rig.store();
    const flush = (): Promise<unknown> => rig.client.script('FLUSH');
    await flush();
    const held = await take(store);
    const second = await take(store);
    await flush();
    expect((await store.renew([held, second])).map(({ kind }) => kind)).toEqual(['held', 'held']);
    await flush();
    expect(await store.inspect(held.key)).toBeDefined();
    await flush();
    expect(await store.release(held)).toEqual({ kind: 'released' });
    await flush();
    expect(await store.forceRelease(second.key)).toBeDefined();
    await flush();
    await store.leave(second);
  });

  it('answers when a server that stood still goes on', async () => {
    const store = rig.store();
    await store.ping();
    rig.server.freeze();
    const call = take(store);
    rig.server.thaw();
    await call;
  });
});

describe('a Redis that refuses us', () => {
  const rig = new Rig({ args: ['--requirepass', 'secret'] });
  const at = (auth: string): string => `redis://${auth}${rig.server.host}:${String(rig.server.port)}`;

  it.each([
    ['no password', '', 'NOAUTH'],
    ['a wrong password', ':wrong@', 'WRONGPASS'],
    ['an unknown user', 'nobody:secret@', 'WRONGPASS'],
  ])('is fatal and says so: %s', async (_, auth, code) => {
    const store = rig.store({ connection: at(auth) });
    for (const error of [
      await errorOf(store.ping()),
      await errorOf(store.acquire(ask())),
      await errorOf(store.renew([{ ...ask(), fencingToken: 1 }])),
    ]) {
      expect(error).toMatchObject({ name: 'StoreError', kind: 'fatal', message: expect.stringContaining(code) as unknown as string });
    }
  });

  it('is fatal where the user may not touch the keys, or not run what the scripts run', async () => {
    const admin = rig.track(new Redis(at(':secret@')));
    await admin.call('ACL', 'SETUSER', 'elsewhere', 'on', '>pw', '~other:*', '+@all');
    await admin.call('ACL', 'SETUSER', 'nowrite', 'on', '>pw', '~*', '+@all', '-mget');
    for (const user of ['elsewhere', 'nowrite']) {
      const store = rig.store({ connection: at(`${user}:pw@`) });
      expect(await errorOf(store.acquire(ask()))).toMatchObject({ kind: 'fatal' });
      expect(await errorOf(store.renew([{ ...ask(), fencingToken: 1 }]))).toMatchObject({ kind: 'fatal' });
    }
  });
});
