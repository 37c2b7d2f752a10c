import { AsyncResource } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, jest } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ClientContext } from '../../../lib/execution/client-context.js';
import { LeaseContext } from '../../../lib/execution/lease-context.js';
import { LeaseModule } from '../../../lib/lease.module.js';
import type { LeaseEngine } from '../../../lib/lease/lease-engine.js';
import { LeaseService, leaseServiceParts } from '../../../lib/service/lease.service.js';
import { MemoryLeaseStore } from '../../../lib/stores/memory/memory-lease-store.js';
import { RedisLeaseStore } from '../../../lib/stores/redis/redis-lease-store.js';
import { createLeaseService } from '../../../lib/testing/create-lease-service.js';
import { AttackRig } from '../../support/attack-rig.js';
import { CapturedLog } from '../../support/nest-app.js';
import { waitFor } from '../../support/wait-for.js';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;
jest.setTimeout(120_000);

/** Bytes in use once everything that can go has gone. */
async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
/** What every asynchronous step of the process carries for somebody's async context (Node 20 and 22). */
const carried = (): number => Object.getOwnPropertySymbols(new AsyncResource('probe')).length;
const MB = 1024 * 1024;
/** `LEASE_LEAK_KEYS=100000` takes half a minute and finds the same. */
const KEYS = Number(process.env.LEASE_LEAK_KEYS ?? 20_000);

describe('nothing is left behind', () => {
  const rig = new AttackRig();

  /** A service that nothing watches, since whoever watches remembers. */
  function plain(fenceRetentionMs: number): { service: LeaseService; engine: LeaseEngine; close: () => Promise<void> } {
    const store = new RedisLeaseStore({ connection: rig.server.url, namespace: 'leaks', fenceRetentionMs });
    const service = createLeaseService({ store });
    const { engine } = leaseServiceParts(service);
    const close = async (): Promise<void> => {
      await engine.close();
      await store.close();
    };
    return { service, engine, close };
  }

  it(`by ${String(KEYS)} different keys on top of those a process remembers: heap, timers, in Redis only fences, each with an end (redisson#6510)`, async () => {
    const { service, engine, close } = plain(60_000);
    const use = async (from: number, to: number): Promise<void> => {
      for (let i = from; i < to; i += 500) {
        await Promise.all(
          Array.from({ length: 500 }, (_, n) => service.withLease(`k${String(i + n)}`, { ttl: 6, wait: 10 }, () => undefined)),
        );
      }
    };
    // A process remembers the tokens of its last 10,000 keys: they are there already.
    await use(0, 12_000);
    const [before, timersBefore] = [await heap(), timers()];
    await use(12_000, 12_000 + KEYS);
    expect((await heap()) - before).toBeLessThan(2 * MB);
    expect(timers()).toBeLessThanOrEqual(timersBefore + 1);
    expect(engine.active.size).toBe(0);
    const immortal =
      "local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do if redis.call('PTTL', k) < 0 or not string.find(k, ':fence$') then n = n + 1 end end return n";
    expect(await rig.client.eval(immortal, 0)).toBe(0);
    await close();
  });

  it('by 10,000 acquires that fail, with a signal each', async () => {
    const { service, engine, close } = plain(60_000);
    const holder = await service.acquire('taken', { ttl: 60 });
    const { signal } = new AbortController();
    setMaxListeners(0, signal);
    const fail = async (n: number): Promise<void> => {
      for (let i = 0; i < n; i += 250) {
        const tries = Array.from({ length: 250 }, () =>
          service.acquire('taken', { signal }).catch((error: unknown) => (error as { code: string }).code),
        );
        expect(new Set(await Promise.all(tries))).toEqual(new Set(['LEASE_BUSY']));
      }
    };
    await fail(1000);
    const [before, timersBefore, keysBefore] = [await heap(), timers(), await rig.client.dbsize()];
    await fail(10_000);
    expect((await heap()) - before).toBeLessThan(MB);
    expect(timers()).toBeLessThanOrEqual(timersBefore + 1);
    expect(await rig.client.dbsize()).toBe(keysBefore);
    expect(engine.undoer.size).toBe(0);
    await holder.release();
    await close();
  });

  it('by 150 applications that start, lease and stop in memory', async () => {
    const cycle = async (): Promise<void> => {
      @Module({ imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })] })
      class App {}
      const app = await Test.createTestingModule({ imports: [App] })
        .setLogger(new CapturedLog())
        .compile();
      await app.init();
      await app.get(LeaseService).withLease('k', { ttl: 1 }, () => undefined);
      await app.close();
    };
    for (let i = 0; i < 50; i++) await cycle();
    const [before, timersBefore, listeners, load] = [await heap(), timers(), process.listenerCount('SIGTERM'), carried()];
    for (let i = 0; i < 150; i++) await cycle();
    expect((await heap()) - before).toBeLessThan(3 * MB);
    expect(timers()).toBeLessThanOrEqual(timersBefore + 1);
    expect(process.listenerCount('SIGTERM')).toBe(listeners);
    expect(carried()).toBe(load);
  });

  it('by an application that has stopped: its contexts let go, so that no asynchronous step pays for them any more', async () => {
    const app = await Test.createTestingModule({ imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })] }).compile();
    await app.init();
    const context = app.get(LeaseContext, { strict: false });
    let [during, after]: unknown[] = [];
    await app.get(LeaseService).withLease('k', async () => {
      during = context.frame;
      context.onApplicationShutdown();
      after = context.frame;
      return Promise.resolve();
    });
    expect(during).toBeDefined();
    expect(after).toBeUndefined();
    const [disabled, client] = [jest.spyOn(context, 'onApplicationShutdown'), app.get(ClientContext, { strict: false })];
    const other = jest.spyOn(client, 'onApplicationShutdown');
    await app.close();
    expect([disabled.mock.calls.length, other.mock.calls.length]).toEqual([1, 1]);
  });

  it('by 50 applications that start, lease and stop on Redis: no socket, no connection, no key without an end', async () => {
    const cycle = async (i: number): Promise<void> => {
      const app = await Test.createTestingModule({ imports: [LeaseModule.forRoot({ connection: rig.server.url, namespace: 'apps' })] })
        .setLogger(new CapturedLog())
        .compile();
      await app.init();
      await app.get(LeaseService).withLease(`k${String(i)}`, { ttl: 1 }, () => undefined);
      await app.close();
    };
    const connections = async (): Promise<number> =>
      String(await rig.client.client('LIST'))
        .trim()
        .split('\n').length;
    for (let i = 0; i < 5; i++) await cycle(i);
    const before = { heap: await heap(), timers: timers(), sockets: sockets(), connections: await connections() };
    for (let i = 0; i < 50; i++) await cycle(i);
    await waitFor(async () => (await connections()) <= before.connections);
    await waitFor(() => sockets() <= before.sockets && timers() <= before.timers + 1);
    expect((await heap()) - before.heap).toBeLessThan(3 * MB);
    const keys = await rig.client.keys('apps:*');
    expect(keys.filter((key) => !key.endsWith(':fence'))).toEqual([]);
  });

  it('by 300 services that are made, used and closed in memory', async () => {
    const cycle = async (): Promise<void> => {
      const service = createLeaseService();
      await Promise.all(Array.from({ length: 3 }, (_, i) => service.withLease(`k${String(i)}`, { ttl: 1 }, () => undefined)));
      const { engine } = leaseServiceParts(service);
      const kept = await service.acquire('kept', { ttl: 1 });
      await engine.close();
      await engine.store.close();
      expect(kept.fencingToken).toBeGreaterThan(0);
    };
    for (let i = 0; i < 30; i++) await cycle();
    const [before, timersBefore, load] = [await heap(), timers(), carried()];
    for (let i = 0; i < 300; i++) await cycle();
    expect(carried()).toBe(load);
    expect(timers()).toBeLessThanOrEqual(timersBefore + 1);
    expect((await heap()) - before).toBeLessThan(2 * MB);
  });
});
