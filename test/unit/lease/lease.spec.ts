import { describe, expect, it } from '@jest/globals';
import { LeaseLostError } from '../../../lib/errors/lease-lost.error.js';
import { loseLease, settleLease } from '../../../lib/lease/lease-control.js';
import { ManualClock } from '../../../lib/testing/manual-clock.js';
import { LeaseRig, outcomeOf, thrownBy, watch } from '../../support/lease-rig.js';

const HOUR = 3_600_000;

describe('a lease that is held', () => {
  it('passes assertHeld, has a safe integer as token and hides nothing that others need', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('job:1');
    expect(() => lease.assertHeld()).not.toThrow();
    expect(Number.isSafeInteger(lease.fencingToken)).toBe(true);
    expect(lease.holderTag).toMatch(/^[0-9a-f]{12}$/);
    expect(lease.holderId).not.toContain(lease.holderTag);
    expect(lease.key).toBe('job:1');
    expect(lease.signal.aborted).toBe(false);
  });

  it('is renewed at a quarter of its ttl, for as long as it is held', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '1s' });
    await rig.clock.advanceAsync(60_000);
    expect(() => lease.assertHeld()).not.toThrow();
    expect(rig.renewals).toBeGreaterThanOrEqual(240);
    expect(rig.renewals).toBeLessThan(290);
    await lease.release();
    const before = rig.renewals;
    await rig.clock.advanceAsync(10_000);
    expect(rig.renewals).toBe(before);
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it('renews every 30 seconds at the latest, also for long ttls', async () => {
    const rig = new LeaseRig();
    await rig.acquire('k', { ttl: '1d' });
    await rig.clock.advanceAsync(HOUR);
    expect(rig.renewals).toBeGreaterThanOrEqual(120);
  });

  it('gives one signal and one promise, however late they are asked for', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k');
    expect(lease.signal).toBe(lease.signal);
    expect(lease.lost).toBe(lease.lost);
    const late = await rig.acquire('late');
    loseLease(late, 'fenced');
    expect(late.signal.aborted).toBe(true);
    expect(late.signal.reason).toBe(await late.lost);
  });

  it('disposes with await using', async () => {
    const rig = new LeaseRig();
    {
      await using lease = await rig.acquire('k');
      expect(lease.remainingMs()).toBeGreaterThan(0);
    }
    expect(await rig.engine.inspect('k')).toBeUndefined();
  });
});

describe('losing a lease', () => {
  it('tells signal, promise, assertHeld and renew alike when the key is gone at a renewal', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '1s' });
    const { signal } = lease;
    await rig.lose('k');
    await rig.clock.advanceAsync(300);
    const error = await lease.lost;
    expect(error).toBeInstanceOf(LeaseLostError);
    expect(error.reason).toBe('expired');
    expect(error.fencingToken).toBe(lease.fencingToken);
    expect(signal.reason).toBe(error);
    expect(() => lease.assertHeld()).toThrow(error);
    await expect(lease.renew()).rejects.toBe(error);
    expect(lease.remainingMs()).toBe(0);
    expect(rig.told('lost')).toHaveLength(1);
  });

  it('says taken when another holder has the key, and never touches that one', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '1s' });
    await rig.lose('k');
    const rival = await rig.rival().acquire('k');
    await rig.clock.advanceAsync(300);
    expect((await lease.lost).reason).toBe('taken');
    expect(await lease.release()).toBe(false);
    expect(rig.told('release-failed')).toEqual([]);
    expect(() => rival.assertHeld()).not.toThrow();
    expect((await rig.engine.inspect('k'))?.fencingToken).toBe(rival.fencingToken);
    expect(rival.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('aborts at the soft deadline when the store does not answer, with reason store', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '3s' });
    rig.faulty.dropRequest('renew', Infinity);
    await rig.clock.advanceAsync(1999);
    expect(lease.signal.aborted).toBe(false);
    expect(lease.remainingMs()).toBeGreaterThan(900);
    await rig.clock.advanceAsync(1);
    expect(lease.signal.aborted).toBe(true);
    expect((await lease.lost).reason).toBe('store');
    expect(rig.told('jeopardy')).toHaveLength(1);
    const before = rig.renewals;
    await rig.clock.advanceAsync(10_000);
    expect(rig.renewals).toBe(before);
  });

  it('is computed at the call after a blocked event loop, before any timer fires', async () => {
    const rig = new LeaseRig(new BlockedClock());
    const lease = await rig.acquire('k', { ttl: '1s' });
    const { signal } = lease;
    (rig.clock as BlockedClock).block(1500);
    expect(() => signal.throwIfAborted()).toThrow(LeaseLostError);
    expect(signal.aborted).toBe(true);
    expect(thrownBy(() => lease.assertHeld())).toMatchObject({ reason: 'expired' });
  });

  it('the renewal timer looks at the clock before it sends anything after a blocked event loop', async () => {
    const rig = new LeaseRig(new BlockedClock());
    const lease = await rig.acquire('k', { ttl: '1s' });
    (rig.clock as BlockedClock).block(1500);
    await rig.clock.advanceAsync(250);
    expect(rig.renewals).toBe(0);
    expect((await lease.lost).reason).toBe('expired');
    expect(rig.told('stalled')).toEqual([expect.objectContaining({ ttlMs: 1000 })]);
  });

  it('is final: a renewal confirmed after the soft deadline changes nothing, and nothing is released before the handler settles', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '3s' });
    rig.faulty.delayReply('renew', 1600, Infinity);
    await rig.clock.advanceAsync(2500);
    expect(() => lease.assertHeld()).toThrow(LeaseLostError);
    const before = rig.renewals;
    rig.faulty.heal();
    await rig.clock.advanceAsync(400);
    expect(() => lease.assertHeld()).toThrow(LeaseLostError);
    expect(rig.renewals).toBe(before);
    expect(rig.faulty.calls('release')).toHaveLength(0);
    expect(await settleLease(lease)).toMatchObject({ code: 'LEASE_LOST', reason: 'store' });
    await rig.clock.settle();
    expect(await rig.engine.inspect('k')).toBeUndefined();
  });

  it('ends at maxHold to the millisecond, without a burst of renewals before it', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '1s', maxHold: '5s' });
    await rig.clock.advanceAsync(4999);
    expect(() => lease.assertHeld()).not.toThrow();
    expect(rig.renewals).toBeLessThan(26);
    await rig.clock.advanceAsync(1);
    expect((await lease.lost).reason).toBe('max-hold');
    await rig.clock.advanceAsync(1000);
    expect(await rig.rival().tryAcquire('k')).toBeDefined();
  });

  it('is told without a handler for it, and crashes nothing', async () => {
    const rig = new LeaseRig();
    const unhandled: unknown[] = [];
    const listener = (error: unknown): number => unhandled.push(error);
    process.on('unhandledRejection', listener);
    await Promise.all(['a', 'b', 'c'].map((key) => rig.acquire(key, { ttl: '1s' })));
    for (const key of ['a', 'b', 'c']) await rig.lose(key);
    await rig.clock.advanceAsync(2000);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listener);
    expect(rig.told('lost')).toHaveLength(3);
    expect(unhandled).toEqual([]);
  });
});

describe('a machine that was suspended', () => {
  it('makes the lease suspect: assertHeld throws, the signal stays, the store is asked once and its yes means held', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '30s' });
    const { signal } = lease;
    rig.clock.suspend(25_000);
    expect(thrownBy(() => lease.assertHeld())).toMatchObject({ reason: 'suspect' });
    expect(() => lease.assertHeld()).toThrow();
    expect(signal.aborted).toBe(false);
    await rig.clock.settle();
    expect(rig.renewals).toBe(1);
    expect(() => lease.assertHeld()).not.toThrow();
    expect(rig.told('lost')).toHaveLength(0);
  });

  it('is lost when the store says no', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '30s' });
    rig.clock.suspend(HOUR);
    expect(thrownBy(() => lease.assertHeld())).toMatchObject({ reason: 'suspect' });
    await rig.clock.settle();
    expect(await outcomeOf(lease.lost)).toMatchObject({ reason: 'expired' });
  });

  it('is lost when the store does not answer by the soft deadline', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '30s' });
    rig.faulty.dropRequest('renew', Infinity);
    rig.clock.suspend(25_000);
    await rig.clock.advanceAsync(19_999);
    expect(thrownBy(() => lease.assertHeld())).toMatchObject({ reason: 'suspect' });
    expect(lease.signal.aborted).toBe(false);
    await rig.clock.advanceAsync(1);
    expect((await lease.lost).reason).toBe('store');
  });

  it('asks the store at most once after a step of the wall clock, and not at all where the system says it did not sleep', async () => {
    for (const [clock, questions] of [
      [new ManualClock(), 0],
      [new ManualClock({ tellsSuspended: false }), 1],
    ] as const) {
      const rig = new LeaseRig(clock);
      const lease = await rig.acquire('k', { ttl: '1d' });
      clock.stepWall(20 * HOUR);
      for (let i = 0; i < 5; i++) {
        lease.remainingMs();
        await clock.settle();
      }
      expect(rig.renewals).toBe(questions);
      expect(() => lease.assertHeld()).not.toThrow();
      clock.stepWall(-20 * HOUR);
      expect(() => lease.assertHeld()).not.toThrow();
    }
  });

  it('settles as held when the release still found it ours, as suspect when it did not', async () => {
    const rig = new LeaseRig(new ManualClock());
    const kept = await rig.acquire('kept', { ttl: '30s' });
    const gone = await rig.acquire('gone', { ttl: '30s' });
    await rig.lose('gone');
    rig.faulty.dropRequest('renew', Infinity);
    rig.clock.suspend(25_000);
    expect(await settleLease(kept)).toBeUndefined();
    expect(await settleLease(gone)).toMatchObject({ reason: 'suspect' });
  });
});

describe('renew()', () => {
  it('resolves only when the store has confirmed, and not for an answer to an earlier renewal', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '1s' });
    rig.faulty.delayReply('renew', 100, Infinity);
    await rig.clock.advanceAsync(230);
    const renewed = watch(lease.renew('10s'));
    expect(await renewed.now()).toBe('pending');
    await rig.clock.advanceAsync(60);
    expect(await renewed.now()).toBe('pending');
    await rig.clock.advanceAsync(50);
    expect(await renewed.now()).toBe('resolved');
    expect(lease.remainingMs()).toBeGreaterThan(9500);
  });

  it('is tried again until the soft deadline, then rejects as lost', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '3s' });
    rig.faulty.dropRequest('renew', 2);
    const renewed = watch(lease.renew());
    await rig.clock.advanceAsync(1900);
    expect(await renewed.now()).toBe('resolved');
    rig.faulty.dropRequest('renew', Infinity);
    const again = watch(lease.renew());
    await rig.clock.advanceAsync(3000);
    expect(await again.now()).toMatchObject({ code: 'LEASE_LOST' });
  });

  it('never shortens the lease, also when its reply is lost', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '1m' });
    rig.faulty.dropReply('renew');
    void lease.renew('500ms').catch(() => undefined);
    await rig.clock.settle();
    expect((await rig.engine.inspect('k'))?.remainingMs).toBe(60_000);
    expect(lease.remainingMs()).toBeGreaterThan(59_000);
    await rig.clock.advanceAsync(500);
    expect(() => lease.assertHeld()).not.toThrow();
  });

  it('a shorter ttl takes over from the longer one without a gap', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '3s' });
    await lease.renew('500ms');
    await rig.clock.advanceAsync(10_000);
    expect(() => lease.assertHeld()).not.toThrow();
    expect(lease.remainingMs()).toBeLessThan(500);
  });

  it('serves a longer renewal although a shorter one was asked for right after it', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '1s' });
    const long = watch(lease.renew('1m'));
    const short = watch(lease.renew('1s'));
    await rig.clock.settle();
    expect(await long.now()).toBe('resolved');
    expect(await short.now()).toBe('resolved');
    expect(lease.remainingMs()).toBeGreaterThan(59_000);
  });

  it('a longer ttl that is only asked for yet leaves time for more than one try', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '1s' });
    rig.faulty.dropRequest('renew', 2);
    const renewed = watch(lease.renew('1m'));
    await rig.clock.advanceAsync(600);
    expect(await renewed.now()).toBe('resolved');
    expect(lease.remainingMs()).toBeGreaterThan(59_000);
  });

  it('refuses a bad ttl before anything is sent', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k');
    await expect(lease.renew(5000)).rejects.toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option: 'ttl' });
    expect(rig.renewals).toBe(0);
  });

  it('rejects after the release', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k');
    await lease.release();
    await expect(lease.renew()).rejects.toMatchObject({ code: 'LEASE_LOST', message: expect.stringContaining('already been released') });
    expect(() => lease.assertHeld()).toThrow(/already been released/);
  });
});

/** A clock whose time can go by without any timer firing, as in synchronous work. */
class BlockedClock extends ManualClock {
  private blocked = 0;

  block(ms: number): void {
    this.blocked += ms;
  }

  override monotonic(): number {
    return super.monotonic() + this.blocked;
  }

  override wall(): number {
    return super.wall() + this.blocked;
  }
}
