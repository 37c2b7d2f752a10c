import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import { StoreError } from '../../../lib/stores/lease-store.js';
import { LeaseRig } from '../../support/lease-rig.js';

describe('keep-alive', () => {
  it('survives renewals that went unanswered: no deadline moves, no loss, one jeopardy', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '3s' });
    rig.faulty.dropReply('renew');
    await rig.clock.advanceAsync(1000);
    expect(lease.remainingMs()).toBeLessThan(2000);
    await rig.clock.advanceAsync(60_000);
    expect(() => lease.assertHeld()).not.toThrow();
    expect(rig.told('jeopardy')).toHaveLength(1);
    expect(rig.told('lost')).toHaveLength(0);
  });

  it('survives an outage of 0.4 of the ttl (redisson#775)', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '10s' });
    await rig.clock.advanceAsync(2400);
    rig.faulty.fail('renew', new Error('ECONNRESET'), Infinity);
    await rig.clock.advanceAsync(3900);
    rig.faulty.heal();
    await rig.clock.advanceAsync(10_000);
    expect(() => lease.assertHeld()).not.toThrow();
  });

  it('retries a failing renewal with a back-off, never in a hot loop', async () => {
    const rig = new LeaseRig();
    await rig.acquire('short', { ttl: '100ms' });
    await rig.acquire('long', { ttl: '1d' });
    rig.faulty.fail('renew', new StoreError('transient', 'down'), Infinity);
    await rig.clock.advanceAsync(60_000);
    expect(rig.renewals).toBeLessThan(120);
  });

  it('takes a late answer for what it is', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '6s' });
    rig.faulty.delayReply('renew', 2200).dropRequest('renew', Infinity);
    await rig.clock.advanceAsync(3900);
    // Sent at about 1.3 s, answered at about 3.6 s, after its limit of 1 s: still an acknowledged request.
    expect(lease.remainingMs()).toBeGreaterThan(3000);
    await rig.clock.advanceAsync(1000);
    expect(() => lease.assertHeld()).not.toThrow();
  });

  it('renews thousands of leases in few round trips, one answer for each', async () => {
    const rig = new LeaseRig();
    for (let i = 0; i < 5000; i++) {
      await rig.acquire(`k${String(i)}`, { ttl: '10s' });
      if (i % 50 === 0) await rig.clock.advanceAsync(10);
    }
    const before = rig.faulty.calls('renew').length;
    await rig.clock.advanceAsync(20_000);
    const batches = rig.faulty.calls('renew').slice(before);
    expect(batches.reduce((sum, batch) => sum + batch.length, 0)).toBeGreaterThanOrEqual(40_000);
    expect(batches.length).toBeLessThanOrEqual(100);
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(1000);
    expect(rig.told('lost')).toHaveLength(0);
  }, 30_000);

  it('leases taken in one burst do not renew in one', async () => {
    const rig = new LeaseRig();
    const held = await Promise.all(Array.from({ length: 7000 }, (_, i) => rig.acquire(`k${String(i)}`, { ttl: '10s' })));
    const sizes: number[] = [];
    for (let ms = 0; ms < 3000; ms += 10) {
      const before = rig.renewals;
      await rig.clock.advanceAsync(10);
      const sent = rig.faulty.calls('renew').slice(before);
      sizes.push(sent.reduce((sum, batch) => sum + batch.length, 0));
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(700);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(7000);
    await rig.engine.close();
    const before = rig.renewals;
    await rig.clock.advanceAsync(20_000);
    expect(rig.renewals).toBe(before);
    expect(held).toHaveLength(7000);
  }, 30_000);

  it('a loss or failure of one lease in a round trip concerns that one only', async () => {
    const rig = new LeaseRig();
    const leases = await Promise.all(['a', 'b', 'c'].map((key) => rig.acquire(key, { ttl: '1s' })));
    await rig.lose('b');
    await rig.clock.advanceAsync(5000);
    expect(rig.told('lost')).toEqual([expect.objectContaining({ key: 'b' })]);
    expect(() => leases[0]?.assertHeld()).not.toThrow();
    expect(() => leases[2]?.assertHeld()).not.toThrow();
  });

  it('does not keep the async context of the caller alive', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const rig = new LeaseRig();
    const { renew, acquire } = rig.store;
    // As real timers do.
    const { setTimer } = rig.clock;
    rig.clock.setTimer = (fn, ms) => setTimer.call(rig.clock, AsyncResource.bind(fn), ms);
    rig.store.renew = (requests) => {
      seen.push(context.getStore());
      return renew.call(rig.store, requests);
    };
    rig.store.acquire = (request) => {
      seen.push(context.getStore());
      return acquire.call(rig.store, request);
    };
    await context.run('request', async () => {
      const lease = await rig.acquire('k', { ttl: '1s' });
      await lease.renew();
      expect(context.getStore()).toBe('request');
    });
    await rig.clock.advanceAsync(1000);
    expect(seen.length).toBeGreaterThan(3);
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  it('leaves no timer behind when all leases are over, and none after close', async () => {
    const rig = new LeaseRig();
    const leases = await Promise.all(Array.from({ length: 20 }, (_, i) => rig.acquire(`k${String(i)}`, { ttl: '1s' })));
    await rig.clock.advanceAsync(400);
    await Promise.all(leases.map((lease) => lease.release()));
    await rig.clock.advanceAsync(1000);
    expect(rig.clock.pendingTimers).toBe(0);
    await rig.acquire('held');
    await rig.engine.close();
    expect(rig.clock.pendingTimers).toBe(0);
  });
});
