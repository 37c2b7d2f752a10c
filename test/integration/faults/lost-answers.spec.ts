import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { AttackRig, rejection } from '../../support/attack-rig.js';
import { waitFor } from '../../support/wait-for.js';

describe('answers of Redis that get lost', () => {
  const rig = new AttackRig();

  it('an acquire that was carried out and never answered rejects in time and blocks nobody for its ttl', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    await rig.warm(a);
    const key = rig.key();
    rig.proxy.drop('reply');
    const start = performance.now();
    const failure = await rejection(a.service.acquire(key, { ttl: '1800ms' }));
    const took = performance.now() - start;
    expect(failure).toMatchObject({ code: 'LEASE_UNAVAILABLE', key });
    expect(took).toBeLessThan(900);
    expect(await rig.client.get(rig.fenceKey(key))).not.toBeNull();
    rig.proxy.pass();
    const lease = await b.service.acquire(key, { ttl: '2s', wait: 2 });
    expect(performance.now() - start).toBeLessThan(1800);
    await lease.release();
  });

  it('a repeated acquire of the same call gets the token of the first, and one release frees it (redisson#4822)', async () => {
    const a = rig.attacked();
    await rig.warm(a);
    const key = rig.key();
    rig.proxy.drop('reply');
    const acquiring = a.service.acquire(key, { ttl: '1200ms', wait: 3 });
    const fence = await waitFor(() => rig.client.get(rig.fenceKey(key)));
    await sleep(50);
    rig.proxy.pass();
    const lease = await acquiring;
    expect(String(lease.fencingToken)).toBe(fence);
    expect(a.store.calls('acquire').length).toBeGreaterThan(1);
    expect(await lease.release()).toBe(true);
    expect(await rig.ownerOf(key)).toBeUndefined();
  });

  it('an acquire that is answered after twice its ttl runs no handler and is undone', async () => {
    const a = rig.attacked();
    await rig.warm(a);
    const key = rig.key();
    rig.proxy.delay(600, 'reply');
    let ran = false;
    const call = a.service.withLease(key, { ttl: '300ms' }, () => (ran = true));
    expect(await rejection(call)).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    await sleep(650);
    rig.proxy.pass();
    await waitFor(async () => (await rig.ownerOf(key)) === undefined);
    expect(ran).toBe(false);
    expect(a.types()).not.toContain('acquired');
  });

  it('a renewal that was carried out and never answered moves no deadline and loses nothing', async () => {
    const a = rig.attacked();
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: '1200ms' });
    const before = await rig.pttl(key);
    expect(before).toBeGreaterThan(1000);
    rig.proxy.drop('reply');
    await waitFor(() => a.types().includes('jeopardy'));
    // The first renewal was carried out, 300 ms after the start, and not answered within 200 ms.
    const jeopardy = a.seen.find((event) => event.type === 'jeopardy');
    expect(jeopardy).toMatchObject({ key, remainingMs: expect.any(Number) });
    expect((jeopardy as { remainingMs: number }).remainingMs).toBeLessThan(750);
    lease.assertHeld();
    rig.proxy.pass();
    await waitFor(() => lease.remainingMs() > 900);
    lease.assertHeld();
    expect(lease.signal.aborted).toBe(false);
    expect(await lease.release()).toBe(true);
    expect(a.types()).not.toContain('lost');
  });

  it('a release that was carried out and never answered does not touch the next holder when it is repeated', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const result = a.service.withLease(key, { ttl: '1200ms' }, async () => {
      rig.proxy.drop('reply');
      return 42;
    });
    await waitFor(() => a.store.calls('release').length === 1);
    const lease = await b.service.acquire(key, { ttl: 5, wait: 5 });
    expect(await result).toBe(42);
    const undone = a.store.calls('leave').length;
    rig.proxy.pass();
    await waitFor(() => a.store.calls('leave').length > undone || a.engine.undoer.size === 0);
    await waitFor(() => a.engine.undoer.size === 0);
    expect(await rig.ownerOf(key)).toBe(lease.holderId);
    lease.assertHeld();
    expect(a.types().filter((type) => type === 'release-failed')).toHaveLength(1);
    expect(await lease.release()).toBe(true);
  });

  it('a renewal answered after the soft deadline loses the lease for the user, which ends with the handler and not before', async () => {
    const a = rig.attacked();
    const key = rig.key();
    let renewals = 0;
    const call = a.service.withLease(key, { ttl: '900ms' }, async (lease) => {
      rig.proxy.delay(700, 'reply');
      await lease.lost;
      const atLoss = a.store.calls('renew').length;
      // The late yes of Redis arrives while the handler winds down: it changes nothing.
      await sleep(250);
      expect(lease.signal.aborted).toBe(true);
      renewals = a.store.calls('renew').length - atLoss;
      expect(await rig.ownerOf(key)).toBe(lease.holderId);
      expect(a.store.calls('release')).toHaveLength(0);
      rig.proxy.pass();
    });
    expect(await rejection(call)).toMatchObject({ code: 'LEASE_LOST', reason: 'store' });
    expect(renewals).toBe(0);
    await waitFor(async () => (await rig.ownerOf(key)) === undefined, { timeoutMs: 500 });
  });
});
