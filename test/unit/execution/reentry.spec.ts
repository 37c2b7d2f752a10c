import { describe, expect, it } from '@jest/globals';
import { AsyncResource } from 'node:async_hooks';
import { loseLease } from '../../../lib/lease/lease-control.js';
import type { Lease } from '../../../lib/lease/lease.js';
import { leasedCall, serviceRig } from '../../support/service-rig.js';
import { deferred } from '../../support/nest-app.js';

describe('a nested call for a key that its async context holds', () => {
  it('shares lease and token, and does not wait for itself (distributed-lock#17, redis-mutex#39)', async () => {
    const { executor, service, store } = serviceRig();
    const nested = await service.withLease('k', async (outer) => {
      const lease = await executor.run(leasedCall('k', (inner) => inner));
      expect(lease).toBe(outer);
      expect((await service.inspect('k'))?.state).toBe('held');
      return service.withLease('k', (again) => again.fencingToken === outer.fencingToken);
    });
    expect(nested).toBe(true);
    expect(store.calls('acquire')).toHaveLength(1);
    expect(store.calls('release')).toHaveLength(1);
  });

  it('joins through another key in between: a -> b -> a', async () => {
    const { service, store } = serviceRig();
    await service.withLease('a', () => service.withLease('b', () => service.withLease('a', () => undefined)));
    expect(store.calls('acquire').map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('siblings inside run together, siblings outside exclude each other', async () => {
    const { service } = serviceRig();
    const gate = deferred();
    const both = service.withLease('k', () =>
      Promise.all([service.withLease('k', () => gate.promise), service.withLease('k', () => gate.resolve())]),
    );
    await both;
    const outside = await Promise.allSettled([service.withLease('k', () => 1), service.withLease('k', () => 2)]);
    expect(outside.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('gives the lease back when the last of them has settled', async () => {
    const { service } = serviceRig();
    const nested = deferred();
    let left!: Promise<void>;
    await service.withLease('k', () => {
      left = service.withLease('k', () => nested.promise);
    });
    expect((await service.inspect('k'))?.state).toBe('held');
    nested.resolve();
    await left;
    expect(await service.inspect('k')).toBeUndefined();
  });

  it("reentry: 'error' is busy at once and names both", async () => {
    const { executor } = serviceRig();
    const inner = leasedCall('k', () => 1, { reentry: 'error', wait: 30, site: 'Inner.run' });
    const outer = executor.run(leasedCall('k', () => executor.run(inner), { site: 'Outer.run' }));
    await expect(outer).rejects.toMatchObject({ code: 'LEASE_BUSY', message: expect.stringMatching(/Outer\.run.*Inner\.run/) });
  });

  it('a longer ttl is confirmed before the body; a shorter or left-out one changes nothing', async () => {
    const { service, store } = serviceRig();
    await service.withLease('k', { ttl: 10 }, async (lease) => {
      await service.withLease('k', { ttl: 5 }, () => expect(store.calls('renew')).toHaveLength(0));
      await service.withLease('k', () => expect(store.calls('renew')).toHaveLength(0));
      await service.withLease('k', { ttl: 60 }, () => expect(lease.remainingMs()).toBeGreaterThan(55_000));
    });
  });

  it('does not run the body when the longer ttl is not confirmed', async () => {
    const { service, store, clock } = serviceRig();
    store.dropRequest('renew', Infinity);
    let ran = false;
    const outer = service.withLease('k', { ttl: 1 }, () => service.withLease('k', { ttl: 60 }, () => (ran = true)));
    const failed = expect(outer).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await clock.advanceAsync(2000);
    await failed;
    expect(ran).toBe(false);
    expect(await service.inspect('k')).toBeUndefined();
  });

  it('a minToken above the token is busy, one that the token meets is not', async () => {
    const { service } = serviceRig();
    await service.withLease('k', async ({ fencingToken }) => {
      await service.withLease('k', { minToken: fencingToken }, () => undefined);
      const above = service.withLease('k', { minToken: fencingToken + 1 }, () => undefined);
      await expect(above).rejects.toMatchObject({ code: 'LEASE_BUSY', fencingToken });
    });
  });

  it('a lost outer lease is LEASE_LOST, before the body', async () => {
    const { service } = serviceRig();
    let ran = false;
    const outer = service.withLease('k', (lease) => {
      loseLease(lease, 'taken');
      return service.withLease('k', () => (ran = true));
    });
    await expect(outer).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'taken' });
    expect(ran).toBe(false);
  });

  it('a suspect outer lease is LEASE_LOST with that reason', async () => {
    const { service, clock, store } = serviceRig();
    store.delay('renew', 50);
    const outer = service.withLease('k', { ttl: 10 }, () => {
      clock.suspend(8000);
      return service.withLease('k', () => 1);
    });
    await expect(outer).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'suspect' });
  });

  it('a lease that the handler gave back itself is acquired again', async () => {
    const { service } = serviceRig();
    await service.withLease('k', async (outer) => {
      await outer.release();
      const token = await service.withLease('k', (lease) => lease.fencingToken);
      expect(token).toBeGreaterThan(outer.fencingToken);
    });
  });

  it('what a settled handler left behind joins nothing, and is not held up by the loss of what is over', async () => {
    const { service } = serviceRig();
    let later!: () => Promise<number>;
    let first!: Lease;
    const outer = service.withLease('k', (lease) => {
      first = lease;
      const bound = AsyncResource.bind(() => service.withLease('k', ({ fencingToken }) => fencingToken));
      later = bound;
      loseLease(lease, 'taken');
    });
    await expect(outer).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await new Promise(setImmediate);
    expect(await later()).toBeGreaterThan(first.fencingToken);
  });

  it('acquire() inside never joins: busy at once, naming the outer call, whatever its wait', async () => {
    const { executor, service, store } = serviceRig();
    const body = async (): Promise<void> => {
      expect(await service.tryAcquire('k')).toBeUndefined();
      await service.acquire('k', { wait: 30 });
    };
    const outer = executor.run(leasedCall('k', body, { site: 'Reports.settle' }));
    await expect(outer).rejects.toMatchObject({ code: 'LEASE_BUSY', key: 'k', message: expect.stringContaining('Reports.settle') });
    expect(store.calls('acquire')).toHaveLength(1);
  });

  it('another service shares neither the key nor the lease', async () => {
    const [one, two] = [serviceRig(), serviceRig()];
    await one.service.withLease('k', (lease) => two.service.withLease('k', (other) => expect(other).not.toBe(lease)));
  });
});

describe('current()', () => {
  it('is the innermost lease of the running handler, of a key where it is given', async () => {
    const { service } = serviceRig();
    expect(service.current()).toBeUndefined();
    await service.withLease('a', (a) =>
      service.withLease('b', async (b) => {
        await Promise.resolve();
        expect([service.current(), service.current('a'), service.current('c')]).toEqual([b, a, undefined]);
      }),
    );
    expect(service.current()).toBeUndefined();
  });

  it('is not that of a bare acquire()', async () => {
    const { service } = serviceRig();
    await using _lease = await service.acquire('a');
    expect(service.current()).toBeUndefined();
  });
});
