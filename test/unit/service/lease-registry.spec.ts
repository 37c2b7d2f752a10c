import { describe, expect, it } from '@jest/globals';
import { NEVER } from 'rxjs';
import { loseLease } from '../../../lib/lease/lease-control.js';
import type { Lease } from '../../../lib/lease/lease.js';
import { leasedCall, serviceRig, type ServiceRig } from '../../support/service-rig.js';
import { deferred } from '../../support/nest-app.js';

/** Starts the drain, and tells when it is over. */
function drain(rig: ServiceRig): { over: () => boolean; done: Promise<void> } {
  let ended = false;
  const done = rig.registry.drain().then(() => {
    ended = true;
  });
  return { over: () => ended, done };
}

describe('the drain at shutdown', () => {
  it('is over at once when nothing runs, and grants nothing afterwards', async () => {
    const rig = serviceRig();
    await (await rig.service.acquire('k')).release();
    await drain(rig).done;
    await expect(rig.service.acquire('k')).rejects.toMatchObject({ code: 'LEASE_SHUTDOWN', key: 'k' });
    await expect(rig.service.tryAcquire('k')).rejects.toMatchObject({ code: 'LEASE_SHUTDOWN' });
    await expect(rig.service.withLease('k', () => 1)).rejects.toMatchObject({ code: 'LEASE_SHUTDOWN' });
    await rig.engine.close();
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it('is not over before a lost lease has been given back, though its call has ended', async () => {
    const rig = serviceRig();
    rig.store.delayReply('release', 300);
    const call = rig.executor.run(leasedCall('k', (lease) => loseLease(lease, 'taken')));
    await expect(call).rejects.toMatchObject({ code: 'LEASE_LOST' });
    const draining = drain(rig);
    await rig.clock.advanceAsync(290);
    expect(draining.over()).toBe(false);
    await rig.clock.advanceAsync(20);
    expect(draining.over()).toBe(true);
  });

  it('gives back what is granted while it begins', async () => {
    const rig = serviceRig();
    rig.store.delayReply('acquire', 20);
    const asked = expect(rig.service.acquire('k', { ttl: 60 })).rejects.toMatchObject({ code: 'LEASE_SHUTDOWN', key: 'k' });
    const draining = drain(rig);
    await rig.clock.advanceAsync(100);
    await asked;
    await draining.done;
    expect(await rig.engine.inspect('k')).toBeUndefined();
  });

  it('that is asked for twice, as by a signal and close(), ends for both when what runs has ended', async () => {
    const rig = serviceRig({ shutdownGrace: 30 });
    const held = await rig.service.acquire('k');
    const [first, second] = [drain(rig), drain(rig)];
    await rig.clock.advanceAsync(1000);
    expect([first.over(), second.over()]).toEqual([false, false]);
    await held.release();
    await rig.clock.advanceAsync(50);
    expect([first.over(), second.over()]).toEqual([true, true]);
  });

  it('rejects waiters at once (schedule#2053)', async () => {
    const rig = serviceRig();
    const held = await rig.service.acquire('k', { ttl: 60 });
    const waiting = expect(rig.service.acquire('k', { wait: 60 })).rejects.toMatchObject({ code: 'LEASE_SHUTDOWN', key: 'k' });
    await rig.clock.advanceAsync(100);
    const draining = drain(rig);
    await waiting;
    expect(draining.over()).toBe(false);
    await held.release();
    await rig.clock.advanceAsync(50);
    await draining.done;
  });

  it('waits for running handlers, renewing their leases, and for leases of acquire() until their release()', async () => {
    const rig = serviceRig({ ttl: 2, shutdownGrace: 30 });
    const body = deferred();
    const running = rig.executor.run(leasedCall('a', (lease) => body.promise.then(() => lease.assertHeld())));
    const bare = await rig.service.acquire('b');
    const draining = drain(rig);
    await rig.clock.advanceAsync(10_000);
    expect(draining.over()).toBe(false);
    body.resolve();
    await running;
    await rig.clock.advanceAsync(1000);
    expect(draining.over()).toBe(false);
    bare.assertHeld();
    await bare.release();
    await rig.clock.advanceAsync(50);
    expect(draining.over()).toBe(true);
    expect(rig.seen.map(({ type }) => type)).toEqual(['released', 'released']);
  });

  it('lets a running handler take further leases until the grace ends, also wait for them', async () => {
    const rig = serviceRig({ shutdownGrace: 10 });
    const held = await rig.service.acquire('b', { ttl: 60 });
    const go = deferred();
    const running = rig.service.withLease('a', async () => {
      await go.promise;
      return rig.service.withLease('b', { wait: 20 }, () => 'both');
    });
    await rig.clock.settle();
    const draining = drain(rig);
    go.resolve();
    await rig.clock.advanceAsync(3000);
    await held.release();
    await rig.clock.advanceAsync(1000);
    expect(await running).toBe('both');
    await draining.done;
  });

  it('a wait inside a handler ends with the grace', async () => {
    const rig = serviceRig({ shutdownGrace: 5 });
    await rig.service.acquire('b', { ttl: 60 });
    const running = rig.service.withLease('a', () => rig.service.withLease('b', { wait: 60 }, () => 1));
    const failed = expect(running).rejects.toMatchObject({
      code: 'LEASE_LOST',
      reason: 'shutdown',
      cause: { code: 'LEASE_SHUTDOWN', key: 'b' },
    });
    await rig.clock.advanceAsync(100);
    const draining = drain(rig);
    await rig.clock.advanceAsync(7500);
    await failed;
    await draining.done;
  });

  it('after the grace aborts with reason shutdown, and frees the key of a handler that then settles', async () => {
    const rig = serviceRig({ ttl: 2, shutdownGrace: 5 });
    const running = rig.service.withLease('k', (lease) => lease.lost);
    const failed = expect(running).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'shutdown' });
    await rig.clock.settle();
    const draining = drain(rig);
    await rig.clock.advanceAsync(4900);
    expect(draining.over()).toBe(false);
    await rig.clock.advanceAsync(200);
    await failed;
    await draining.done;
    expect(await rig.service.inspect('k')).toBeUndefined();
    expect(rig.seen.map(({ type }) => type)).toEqual(['lost']);
  });

  it('what has not settled 2 s later is left to its ttl, one event each, and never released under its feet', async () => {
    const rig = serviceRig({ ttl: 60, shutdownGrace: 5 });
    const body = deferred();
    const running = rig.service.withLease('hung', () => body.promise);
    const failed = expect(running).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'shutdown' });
    const bare = await rig.service.acquire('bare');
    const draining = drain(rig);
    await rig.clock.advanceAsync(6900);
    expect(draining.over()).toBe(false);
    await rig.clock.advanceAsync(200);
    await draining.done;
    const unsettled = rig.seen.filter(({ type }) => type === 'unsettled');
    expect(unsettled).toEqual([
      { type: 'unsettled', key: 'hung', fencingToken: expect.any(Number), heldMs: expect.any(Number) },
      { type: 'unsettled', key: 'bare', fencingToken: bare.fencingToken, heldMs: expect.any(Number) },
    ]);
    expect((await rig.service.inspect('hung'))?.state).toBe('held');
    expect(() => bare.assertHeld()).toThrow();
    body.resolve();
    await failed;
  });

  it('ends streams by their loss', async () => {
    const rig = serviceRig({ shutdownGrace: 1 });
    const { promise, resolve } = deferred<unknown>();
    const endless = rig.executor.run(leasedCall('k', () => NEVER, { returns: 'observable' })) as typeof NEVER;
    endless.subscribe({ error: resolve });
    await rig.clock.settle();
    const draining = drain(rig);
    await rig.clock.advanceAsync(1100);
    expect(await promise).toMatchObject({ code: 'LEASE_LOST', reason: 'shutdown' });
    await draining.done;
  });

  it('a handler that lost its lease before is waited for too', async () => {
    const rig = serviceRig({ shutdownGrace: 10 });
    const body = deferred();
    const started = deferred<Lease>();
    const running = rig.service.withLease('k', (lease) => (started.resolve(lease), body.promise));
    const failed = expect(running).rejects.toMatchObject({ reason: 'taken' });
    loseLease(await started.promise, 'taken');
    const draining = drain(rig);
    await rig.clock.advanceAsync(3000);
    expect(draining.over()).toBe(false);
    body.resolve();
    await failed;
    await rig.clock.advanceAsync(50);
    expect(draining.over()).toBe(true);
  });

  it('is not held up by what others of the application no longer need', async () => {
    const rig = serviceRig({ shutdownGrace: 10 });
    let quiet = false;
    let over = false;
    const draining = rig.registry.drain(() => quiet).then(() => (over = true));
    await rig.clock.advanceAsync(1000);
    expect(over).toBe(false);
    quiet = true;
    await rig.clock.advanceAsync(50);
    await draining;
  });

  it('takes no scheduled instants from the first hook on', () => {
    const { registry } = serviceRig();
    expect(registry.stopping).toBe(false);
    registry.stop();
    expect(registry.stopping).toBe(true);
  });
});
