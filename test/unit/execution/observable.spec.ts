import { describe, expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { concat, firstValueFrom, isObservable, lastValueFrom, NEVER, Observable, of, Subject, throwError, toArray } from 'rxjs';
import { loseLease } from '../../../lib/lease/lease-control.js';
import type { Lease } from '../../../lib/lease/lease.js';
import type { LeasedCallOptions } from '../../../lib/metadata/leased-call.js';
import { leasedCall, serviceRig } from '../../support/service-rig.js';
import { waitFor } from '../../support/wait-for.js';

const observe = (
  rig: ReturnType<typeof serviceRig>,
  body: (lease: Lease) => unknown,
  options: LeasedCallOptions = {},
): Observable<unknown> => rig.executor.run(leasedCall('k', body, { ...options, returns: 'observable' })) as Observable<unknown>;
const free = async (rig: ReturnType<typeof serviceRig>): Promise<boolean> => (await rig.service.inspect('k')) === undefined;

describe('a leased call that gives an Observable', () => {
  it('acquires on subscribe, each time anew, and holds until it completes', async () => {
    const rig = serviceRig();
    const values = observe(rig, ({ fencingToken }) => of(fencingToken));
    expect(rig.store.calls('acquire')).toHaveLength(0);
    const [first, second] = [await lastValueFrom(values), await lastValueFrom(values)] as [number, number];
    expect(second).toBeGreaterThan(first);
    expect(await free(rig)).toBe(true);
  });

  it('is freed before the consumer hears of the end, so that it may start the next at once', async () => {
    const rig = serviceRig();
    const values = observe(rig, () => of(1));
    expect(await lastValueFrom(concat(values, values).pipe(toArray()))).toEqual([1, 1]);
  });

  it.each([
    ['errors', () => throwError(() => 'own')],
    [
      'throws',
      () => {
        throw 'own';
      },
    ],
    ['gives a promise that rejects', () => Promise.reject('own')],
  ])('passes on the very error when the body %s, and frees the key', async (_, body) => {
    const rig = serviceRig();
    await expect(lastValueFrom(observe(rig, body))).rejects.toBe('own');
    expect(await free(rig)).toBe(true);
  });

  it('is freed when the consumer unsubscribes', async () => {
    const rig = serviceRig();
    expect(await firstValueFrom(observe(rig, () => concat(of('one'), NEVER)))).toBe('one');
    await waitFor(() => free(rig));
  });

  it('unsubscribing while it waits ends the wait', async () => {
    const rig = serviceRig();
    const held = await rig.service.acquire('k');
    let ran = false;
    const subscription = observe(rig, () => ((ran = true), NEVER), { wait: 60 }).subscribe();
    await rig.clock.advanceAsync(1000);
    expect((await rig.service.inspect('k'))?.waiters).toBe(1);
    subscription.unsubscribe();
    await rig.clock.advanceAsync(10);
    expect((await rig.service.inspect('k'))?.waiters).toBe(0);
    await held.release();
    await rig.clock.advanceAsync(1000);
    expect(ran).toBe(false);
    expect(await free(rig)).toBe(true);
  });

  it('unsubscribing while the answer of the store is on its way leaves nothing held', async () => {
    const rig = serviceRig();
    rig.store.delayReply('acquire', 100);
    observe(rig, () => NEVER)
      .subscribe()
      .unsubscribe();
    await rig.clock.advanceAsync(1000);
    expect(await free(rig)).toBe(true);
  });

  it('is stopped by the loss of the lease, and ends with it', async () => {
    const rig = serviceRig();
    let stopped = false;
    const body = (lease: Lease): Observable<unknown> =>
      new Observable((subscriber) => {
        subscriber.next(lease);
        return () => (stopped = true);
      });
    const seen = new Promise<unknown>((resolve) => {
      observe(rig, body).subscribe({ next: (lease) => loseLease(lease as Lease, 'taken'), error: resolve });
    });
    expect(await seen).toMatchObject({ code: 'LEASE_LOST', reason: 'taken' });
    expect(stopped).toBe(true);
  });

  it('busy errors the stream, or skips it', async () => {
    const rig = serviceRig();
    await rig.service.acquire('k');
    await expect(lastValueFrom(observe(rig, () => of(1)))).rejects.toMatchObject({ code: 'LEASE_BUSY' });
    const skip = { onBusy: 'skip' } as const;
    expect(await lastValueFrom(observe(rig, () => of(1), { ...skip, skipValue: 'none' }))).toBe('none');
    expect(await lastValueFrom(observe(rig, () => of(1), { ...skip, skipValue: of('a', 'b') }).pipe(toArray()))).toEqual(['a', 'b']);
  });

  it('runs the body in the async context of the call, inside the lease', async () => {
    const rig = serviceRig();
    const request = new AsyncLocalStorage<string>();
    const values = request.run('request 7', () => observe(rig, () => of([request.getStore(), rig.service.current('k') !== undefined])));
    expect(await lastValueFrom(values)).toEqual(['request 7', true]);
  });

  it('joins the lease of the handler that subscribes to it', async () => {
    const rig = serviceRig();
    const values = observe(rig, (lease) => of(lease));
    await rig.service.withLease('k', async (lease) => expect(await lastValueFrom(values)).toBe(lease));
  });
});

describe('a promise that brings an Observable', () => {
  it('keeps the lease until that has completed', async () => {
    const rig = serviceRig();
    const source = new Subject<number>();
    const result = (await rig.executor.run(leasedCall('k', async () => Promise.resolve(source)))) as Observable<number>;
    expect(isObservable(result)).toBe(true);
    const all = lastValueFrom(result.pipe(toArray()));
    expect(await free(rig)).toBe(false);
    source.next(1);
    source.complete();
    expect(await all).toEqual([1]);
    expect(await free(rig)).toBe(true);
  });

  it('loses the lease when nobody subscribes within one ttl', async () => {
    const rig = serviceRig({ ttl: 5 });
    const result = (await rig.executor.run(leasedCall('k', async () => Promise.resolve(of(1))))) as Observable<number>;
    await rig.clock.advanceAsync(4900);
    expect(await free(rig)).toBe(false);
    await rig.clock.advanceAsync(200);
    expect(await free(rig)).toBe(true);
    await expect(lastValueFrom(result)).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'expired' });
    expect(rig.seen.map(({ type }) => type)).toContain('lost');
  });

  it('inside a handler that holds the key, an unread one takes nothing from it', async () => {
    const rig = serviceRig({ ttl: 5 });
    await rig.service.withLease('k', async (lease) => {
      await rig.executor.run(leasedCall('k', async () => Promise.resolve(of(1))));
      await rig.clock.advanceAsync(6000);
      lease.assertHeld();
    });
    expect(await free(rig)).toBe(true);
  });

  it('a second subscriber shares the lease while it lasts, and gets the loss afterwards', async () => {
    const rig = serviceRig();
    const source = new Subject<number>();
    const result = (await rig.executor.run(leasedCall('k', async () => Promise.resolve(source)))) as Observable<number>;
    const both = [lastValueFrom(result), lastValueFrom(result)];
    source.next(7);
    source.complete();
    expect(await Promise.all(both)).toEqual([7, 7]);
    expect(await free(rig)).toBe(true);
    await expect(lastValueFrom(result)).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });
});
