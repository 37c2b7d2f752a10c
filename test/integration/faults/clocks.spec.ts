import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { AttackRig, blockLoop, rejection } from '../../support/attack-rig.js';
import { ShiftedClock } from '../../support/holder-clock.js';
import { waitFor } from '../../support/wait-for.js';

const HOUR = 3_600_000;

describe('clocks that jump, and time that passes unseen', () => {
  const rig = new AttackRig();

  it('after a blocked event loop the very next line knows that the lease is over, and nothing was renewed (bull#308)', async () => {
    const a = rig.attacked();
    const lease = await a.service.acquire(rig.key(), { ttl: '400ms' });
    const { signal } = lease;
    blockLoop(600);
    const renewals = a.store.calls('renew').length;
    expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LEASE_LOST', reason: 'expired' }));
    expect(signal.aborted).toBe(true);
    await sleep(50);
    expect(a.store.calls('renew')).toHaveLength(renewals);
  });

  it('after a blocked event loop the renewal timer looks at the clock first, and tells of the stall (bullmq#3056)', async () => {
    const a = rig.attacked();
    const lease = await a.service.acquire(rig.key(), { ttl: '400ms' });
    blockLoop(600);
    expect(await lease.lost).toMatchObject({ reason: 'expired' });
    expect(a.store.calls('renew')).toHaveLength(0);
    expect(a.seen.find(({ type }) => type === 'stalled')).toMatchObject({ ttlMs: 400, stalledMs: expect.any(Number) });
    expect(await lease.release()).toBe(false);
  });

  it('after a suspend the lease is suspect until the server has been asked, and held when it says so', async () => {
    const clock = new ShiftedClock();
    const a = rig.attacked({}, clock);
    const lease = await a.service.acquire(rig.key(), { ttl: 30 });
    clock.suspend(HOUR);
    expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LEASE_LOST', reason: 'suspect' }));
    expect(lease.signal.aborted).toBe(false);
    await waitFor(() => {
      lease.assertHeld();
      return true;
    });
    expect(a.store.calls('renew')).toHaveLength(1);
    expect(lease.remainingMs()).toBeGreaterThan(28_000);
    expect(await lease.release()).toBe(true);
  });

  it('after a suspend in which a rival took over the lease is lost as soon as the server was asked', async () => {
    const clock = new ShiftedClock();
    const [a, b] = [rig.attacked({}, clock), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: 30 });
    await rig.client.del(rig.leaseKey(key));
    const next = await b.service.acquire(key, { ttl: 30 });
    clock.suspend(HOUR);
    expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ reason: 'suspect' }));
    expect(await lease.lost).toMatchObject({ reason: 'taken' });
    expect(lease.signal.aborted).toBe(true);
    expect(await rig.ownerOf(key)).toBe(next.holderId);
  });

  it.each([-HOUR, HOUR])('a wall clock that is set by %d ms changes nothing, and asks nobody', async (ms) => {
    const clock = new ShiftedClock();
    const a = rig.attacked({}, clock);
    const lease = await a.service.acquire(rig.key(), { ttl: 30 });
    clock.stepWall(ms);
    lease.assertHeld();
    expect(lease.remainingMs()).toBeGreaterThan(29_000);
    await sleep(20);
    expect(a.store.calls('renew')).toHaveLength(0);
    await lease.renew();
    lease.assertHeld();
    expect(await lease.release()).toBe(true);
  });

  // What Redis shows after its clock was set back: what expires lies further away, and fences are ahead of it.
  it('a Redis whose clock went back an hour gives higher tokens, and frees a dead holder’s lease within its ttl', async () => {
    const b = rig.rival();
    const key = rig.key();
    const dead = rig.attacked();
    const first = await dead.service.acquire(key, { ttl: '700ms' });
    await dead.close();
    const token = first.fencingToken + HOUR * 1000;
    await rig.client.set(rig.fenceKey(key), String(token), 'PX', 25 * HOUR);
    await rig.client.pexpire(rig.leaseKey(key), HOUR);
    const busy = await rejection(b.service.acquire(key));
    expect(busy).toMatchObject({ code: 'LEASE_BUSY' });
    expect(busy.retryAfterMs).toBeLessThanOrEqual(700);
    const next = await b.service.acquire(key, { wait: 2 });
    expect(next.fencingToken).toBeGreaterThan(token);
    await next.release();
    expect(Number(await rig.client.get(rig.fenceKey(key)))).toBe(next.fencingToken);
    expect(await rig.client.pttl(rig.fenceKey(key))).toBeGreaterThan(24 * HOUR);
  });

  // After its clock was set forward everything has expired at once.
  it('a Redis whose clock went forward an hour tells holders at their next renewal, and tokens rise when it goes back again', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: '800ms' });
    await rig.client.del(rig.leaseKey(key));
    expect(await lease.lost).toMatchObject({ reason: 'expired' });
    expect(a.types()).not.toContain('jeopardy');
    // Its fence was minted while the clock was ahead.
    await rig.client.set(rig.fenceKey(key), String(lease.fencingToken + HOUR * 1000), 'PX', 25 * HOUR);
    const next = await b.service.acquire(key, { ttl: 1 });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken + HOUR * 1000);
    await next.release();
    const last = await a.service.acquire(key, { ttl: 1 });
    expect(last.fencingToken).toBeGreaterThan(next.fencingToken);
    await last.release();
  });
});
