import { describe, expect, it } from '@jest/globals';
import type { LeaseService } from '../../../lib/service/lease.service.js';
import { serviceRig } from '../../support/service-rig.js';

describe('LeaseService', () => {
  it('gives a lease, tells who holds it, and takes it back', async () => {
    const { service } = serviceRig({ holder: 'web-1' });
    const lease = await service.acquire('job:1', { ttl: 60 });
    expect(await service.inspect('job:1')).toMatchObject({
      key: 'job:1',
      state: 'held',
      holder: 'web-1',
      holderTag: lease.holderTag,
      fencingToken: lease.fencingToken,
    });
    await expect(service.acquire('job:1')).rejects.toMatchObject({ code: 'LEASE_BUSY', holder: 'web-1', retryAfterMs: 60_000 });
    expect(await service.tryAcquire('job:1', { wait: 60 })).toBeUndefined();
    expect([await lease.release(), await lease.release()]).toEqual([true, false]);
    expect(await service.inspect('job:1')).toBeUndefined();
  });

  it('forceRelease ends a lease whoever holds it; the next token is higher', async () => {
    const { service } = serviceRig();
    const before = await service.acquire('k');
    expect(await service.forceRelease('k')).toMatchObject({ holderTag: before.holderTag });
    expect((await service.acquire('k')).fencingToken).toBeGreaterThan(before.fencingToken);
  });

  it.each([[''], [undefined], [null], [42], [{}]])('refuses the key %p before the store is asked', async (key) => {
    const { service, store } = serviceRig();
    const bad = key as string;
    const calls = [
      () => service.acquire(bad),
      () => service.tryAcquire(bad),
      () => service.withLease(bad, () => 1),
      () => service.inspect(bad),
      () => service.forceRelease(bad),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
    expect([...store.calls('acquire'), ...store.calls('inspect'), ...store.calls('forceRelease')]).toEqual([]);
  });

  it.each([
    [{ ttl: 0 }],
    [{ ttl: -1 }],
    [{ ttl: NaN }],
    [{ ttl: Infinity }],
    [{ ttl: '60' }],
    [{ ttl: null }],
    [{ ttl: {} }],
    [{ ttl: 123.4567891 }],
    [{ ttl: 1e21 }],
    [{ ttl: 2 ** 53 }],
    [{ ttl: 0.05 }],
    [{ wait: -1 }],
    [{ minToken: 1.5 }],
    [{ maxHold: 0 }],
  ])('refuses %p before the store is asked (node-redlock#120, connect-redis#191, RedLock.net#90)', async (options) => {
    const { service, store } = serviceRig();
    const bad = options as Parameters<LeaseService['acquire']>[1];
    for (const call of [service.acquire('k', bad), service.tryAcquire('k', bad), service.withLease('k', bad, () => 1)]) {
      await expect(call).rejects.toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option: Object.keys(options)[0] });
    }
    expect(store.calls('acquire')).toEqual([]);
  });

  it('takes halves of seconds, texts with a unit, and undefined for the default, exactly', async () => {
    const { service, store } = serviceRig({ ttl: 45 });
    for (const ttl of [0.5, 1.5, '60s', '1.5s', undefined]) await (await service.acquire('k', { ttl })).release();
    expect(store.calls('acquire').map(({ ttlMs }) => ttlMs)).toEqual([500, 1500, 60_000, 1500, 45_000]);
  });

  it('withLease without a function says how to call it', async () => {
    const { service } = serviceRig();
    await expect(service.withLease('k', { ttl: 5 } as never)).rejects.toMatchObject({ code: 'LEASE_OPTIONS_INVALID' });
  });

  it('a wait ends with the reason of its signal', async () => {
    const { service, clock } = serviceRig();
    await service.acquire('k');
    const reason = new Error('user gave up');
    const controller = new AbortController();
    const waiting = expect(service.acquire('k', { wait: 60, signal: controller.signal })).rejects.toBe(reason);
    await clock.advanceAsync(500);
    controller.abort(reason);
    await waiting;
    const [aborted, call] = [AbortSignal.abort(reason), service];
    await expect(call.acquire('free', { signal: aborted })).rejects.toBe(reason);
  });

  it('beyond maxQueue waiters a further one is busy at once', async () => {
    const { service, clock } = serviceRig({ maxQueue: 1 });
    const held = await service.acquire('k', { ttl: 60 });
    const first = service.acquire('k', { wait: 30 });
    await clock.advanceAsync(100);
    await expect(service.acquire('k', { wait: 30 })).rejects.toMatchObject({ code: 'LEASE_BUSY' });
    await held.release();
    await clock.advanceAsync(1000);
    expect((await first).key).toBe('k');
  });

  it('a store that cannot be asked is unavailable, not busy, with its error as the cause (node-redlock#185)', async () => {
    const { service, store } = serviceRig();
    const cause = new Error('ECONNREFUSED');
    for (const verb of ['acquire', 'inspect', 'forceRelease'] as const) store.fail(verb, cause, verb === 'acquire' ? 2 : 1);
    const calls = [() => service.acquire('k'), () => service.tryAcquire('k'), () => service.inspect('k'), () => service.forceRelease('k')];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'LEASE_UNAVAILABLE', key: 'k', cause });
  });
});
