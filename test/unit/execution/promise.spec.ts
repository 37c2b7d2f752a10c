import { describe, expect, it } from '@jest/globals';
import { ConflictException } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { loseLease } from '../../../lib/lease/lease-control.js';
import type { Lease } from '../../../lib/lease/lease.js';
import { leasedCall, serviceRig } from '../../support/service-rig.js';
import { deferred } from '../../support/nest-app.js';

const failureOf = (promise: unknown): Promise<unknown> =>
  (promise as Promise<unknown>).then(
    (value: unknown) => Promise.reject(new Error(`expected a failure, got ${String(value)}`)),
    (error: unknown) => error,
  );

describe('a leased call that gives a promise', () => {
  it('holds the key while the body runs and frees it afterwards', async () => {
    const { executor, service } = serviceRig();
    const body = deferred();
    const running = executor.run(leasedCall('job:1', async () => (await body.promise, 'done')));
    expect((await service.inspect('job:1'))?.state).toBe('held');
    body.resolve();
    expect(await running).toBe('done');
    expect(await service.inspect('job:1')).toBeUndefined();
  });

  it('owner identity is per call, not per process (murlock#33)', async () => {
    const { executor } = serviceRig();
    const leases: Lease[] = [];
    let inside = 0;
    let most = 0;
    const call = (): unknown =>
      executor.run(
        leasedCall('order:1', async (lease) => {
          leases.push(lease);
          most = Math.max(most, ++inside);
          await Promise.resolve();
          inside--;
        }),
      );
    const outcomes = await Promise.allSettled([call(), call()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await call();
    expect(most).toBe(1);
    expect(leases[0]?.holderId).not.toBe(leases[1]?.holderId);
    expect(leases[1]?.fencingToken).toBeGreaterThan(leases[0]?.fencingToken ?? Infinity);
  });

  it('never throws synchronously: a key that cannot be made rejects', async () => {
    const { executor } = serviceRig();
    const call = {
      ...leasedCall('', () => 1),
      key: () => {
        throw new TypeError('no key');
      },
    };
    await expect(executor.run(call)).rejects.toThrow('no key');
  });

  it.each([
    [
      'throws at once',
      () => {
        throw new Error('sync');
      },
    ],
    ['returns a rejected promise', () => Promise.reject(new Error('async'))],
    ['returns a value at once', () => 42],
  ])('frees the key when a body that is not async %s (schedule#440)', async (_, body) => {
    const { executor, service } = serviceRig();
    await Promise.allSettled([executor.run(leasedCall('k', body))]);
    expect(await service.inspect('k')).toBeUndefined();
  });

  it.each([
    ['an exception', new ConflictException('ours')],
    ['a text', 'no'],
    ['undefined', undefined],
    ['null', null],
  ])('rejects with the very thing the body threw, %s, though the release fails too (node-redlock#369)', async (_, thrown) => {
    const { executor, store, seen } = serviceRig();
    store.fail('release', new Error('ECONNRESET'));
    expect(await failureOf(executor.run(leasedCall('k', () => Promise.reject(thrown as Error))))).toBe(thrown);
    expect(seen.map(({ type }) => type)).toEqual(['release-failed']);
  });

  it('gives the result when the key is gone at the release (node-redlock#153)', async () => {
    const { executor, service, seen } = serviceRig();
    expect(await executor.run(leasedCall('k', async () => (await service.forceRelease('k'), 42)))).toBe(42);
    expect(seen).toMatchObject([{ type: 'release-failed' }]);
  });

  it('gives the result without waiting long for a release that is not answered (DistributedLock#191)', async () => {
    const { executor, store, clock, seen } = serviceRig();
    store.dropRequest('release', Infinity);
    const result = executor.run(leasedCall('k', async () => 42, { ttl: 10 }));
    await clock.advanceAsync(1000);
    expect(await result).toBe(42);
    expect(seen).toMatchObject([{ type: 'release-failed' }]);
  });

  it('rejects with the loss once the body has settled, the error of the body as its cause', async () => {
    const { executor } = serviceRig();
    const own = new Error('stopped half-way');
    const [started, settled] = [deferred<Lease>(), deferred()];
    const body = async (lease: Lease): Promise<void> => {
      started.resolve(lease);
      await settled.promise;
      throw own;
    };
    const running = failureOf(executor.run(leasedCall('k', body)));
    const lease = await started.promise;
    loseLease(lease, 'taken');
    let over = false;
    void running.then(() => (over = true));
    await new Promise(setImmediate);
    expect(over).toBe(false);
    settled.resolve();
    expect(await running).toMatchObject({ code: 'LEASE_LOST', key: 'k', reason: 'taken', cause: own, fencingToken: lease.fencingToken });
  });

  it('does not wrap the loss that the body passes on', async () => {
    const { executor } = serviceRig();
    const body = (lease: Lease): void => {
      loseLease(lease, 'taken');
      lease.signal.throwIfAborted();
    };
    const error = await failureOf(executor.run(leasedCall('k', body)));
    expect(error).toMatchObject({ code: 'LEASE_LOST', reason: 'taken' });
    expect((error as Error).cause).toBeUndefined();
  });

  it('a body that ran past the ttl without a renewal is told so, and its result is no result', async () => {
    const { executor, store, clock } = serviceRig();
    store.fail('renew', new Error('down'), Infinity);
    const body = deferred();
    const running = failureOf(executor.run(leasedCall('k', async () => (await body.promise, 42), { ttl: 1 })));
    await clock.advanceAsync(900);
    body.resolve();
    expect(await running).toMatchObject({ code: 'LEASE_LOST', reason: 'store' });
  });

  it('a hung handler is not renewed for ever (RedLock.net#68)', async () => {
    const { executor, service, clock } = serviceRig();
    const running = failureOf(executor.run(leasedCall('k', (lease) => lease.lost, { ttl: 2, maxHold: 5 })));
    await clock.advanceAsync(5000);
    expect(await running).toMatchObject({ code: 'LEASE_LOST', reason: 'max-hold' });
    expect(await service.inspect('k')).toBeUndefined();
  });

  it('does not run the body when the wait has run out (redis-py#661, distributed-lock#35)', async () => {
    const { executor, service, clock } = serviceRig();
    await service.acquire('k', { ttl: 60 });
    let ran = false;
    const running = failureOf(executor.run(leasedCall('k', () => (ran = true), { wait: '100ms' })));
    await clock.advanceAsync(200);
    expect(await running).toMatchObject({ code: 'LEASE_BUSY', key: 'k' });
    expect(ran).toBe(false);
  });

  it.each([
    [{ skipValue: 'other' }, 'other'],
    [{}, undefined],
  ])('skips a busy call when it says so: %j', async (options, result) => {
    const { executor, service } = serviceRig();
    await service.acquire('k');
    let ran = false;
    expect(await executor.run(leasedCall('k', () => (ran = true), { onBusy: 'skip', ...options }))).toBe(result);
    expect(ran).toBe(false);
  });

  it('does not skip what the body itself found busy, nor an unavailable store', async () => {
    const { executor, service, store } = serviceRig();
    await service.acquire('other');
    const busy = executor.run(leasedCall('k', () => service.withLease('other', () => 1), { onBusy: 'skip' }));
    await expect(busy).rejects.toMatchObject({ code: 'LEASE_BUSY', key: 'other' });
    store.fail('acquire', new Error('ECONNREFUSED'));
    await expect(executor.run(leasedCall('k', () => 1, { onBusy: 'skip' }))).rejects.toMatchObject({ code: 'LEASE_UNAVAILABLE' });
  });

  it('ends the wait when its client has gone away', async () => {
    const { executor, service, client, clock } = serviceRig();
    await service.acquire('k', { ttl: 60 });
    const response = Object.assign(new EventEmitter(), { writableFinished: false });
    const running = failureOf(client.run(response, () => executor.run(leasedCall('k', () => 1, { wait: 30 }))));
    await clock.advanceAsync(1000);
    response.emit('close');
    expect(await running).toMatchObject({ code: 'LEASE_BUSY', message: expect.stringContaining('client went away') });
    expect(response.listenerCount('close')).toBe(0);
  });
});
