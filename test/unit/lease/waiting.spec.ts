import { describe, expect, it } from '@jest/globals';
import type { Lease } from '../../../lib/lease/lease.js';
import { LeaseRig, outcomeOf, watch } from '../../support/lease-rig.js';

/** Waiters one after the other, so that their order is known. */
async function queue(rig: LeaseRig, n: number, served: number[], from = 0): Promise<Promise<Lease>[]> {
  const waiting: Promise<Lease>[] = [];
  for (let i = from; i < from + n; i++) {
    const one = rig.acquire('k', { ttl: '30s', wait: '1h' });
    void one.then(
      () => served.push(i),
      () => undefined,
    );
    waiting.push(one);
    await rig.clock.settle();
  }
  return waiting;
}

const acquires = (rig: LeaseRig): number => rig.faulty.calls('acquire').length;

describe('waiting in the line of the store', () => {
  it('serves in order, across processes, at once when the holder is done', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    const held = await rig.acquire('k');
    const served: number[] = [];
    const waiting = [...(await queue(rig, 2, served)), ...(await queue(rival, 2, served, 2)), ...(await queue(rig, 1, served, 4))];
    await held.release();
    for (const one of waiting) {
      await rig.clock.settle();
      await (await one).release();
    }
    expect(served).toEqual([0, 1, 2, 3, 4]);
    expect(await rig.engine.inspect('k')).toBeUndefined();
  });

  it('asks once to take a place and once to claim it, however many wait', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    const held = await rig.acquire('k');
    const served: number[] = [];
    void (await queue(rival, 1, served));
    const before = acquires(rival);
    const waiting = await queue(rival, 100, served, 1);
    expect(acquires(rival) - before).toBe(100);
    await rig.clock.advanceAsync(25_000);
    expect(acquires(rival) - before).toBe(100);
    await held.release();
    await rig.clock.settle();
    expect(served).toEqual([0]);
    expect(acquires(rival) - before).toBe(101);
    for (const one of waiting) void one.catch(() => undefined);
  });

  it('says every three seconds that it still waits, with one request for all keys', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    await Promise.all(['a', 'b', 'c'].map((key) => rig.acquire(key, { ttl: '1m' })));
    for (const key of ['a', 'b', 'c', 'c', 'c']) void rival.acquire(key, { wait: '1h' }).catch(() => undefined);
    await rig.clock.advanceAsync(30_000);
    expect(rival.faulty.calls('attend')).toHaveLength(10);
    expect(rival.faulty.calls('attend')[0]?.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  });

  it('looks when the time of a dead holder is over', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    await rig.acquire('k', { ttl: '10s' });
    await rig.engine.close();
    const waiting = watch(rival.acquire('k', { wait: '1m' }));
    await rig.clock.advanceAsync(9999);
    expect(await waiting.now()).toBe('pending');
    await rig.clock.advanceAsync(60);
    expect(await waiting.now()).toMatchObject({ key: 'k' });
  });

  it('a lost notice is made up for by the next word of presence', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    const held = await rig.acquire('k');
    const waiting = watch(rival.acquire('k', { wait: '1m' }));
    await rig.clock.settle();
    rig.store.onWake(rival.engine.waiters.process, () => undefined);
    await held.release();
    await rig.clock.settle();
    expect(await waiting.now()).toBe('pending');
    await rig.clock.advanceAsync(3000);
    expect(await waiting.now()).toMatchObject({ key: 'k' });
  });

  it('a process that was paused takes its old places again, in order', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    const held = await rig.acquire('k', { ttl: '1d' });
    const served: number[] = [];
    const waiting = await queue(rival, 3, served);
    rival.faulty.dropRequest('attend', 4);
    await rig.clock.advanceAsync(11_000);
    const late = await queue(rig, 1, served, 3);
    await rig.clock.advanceAsync(4000);
    await held.release();
    for (const one of [...waiting, ...late]) {
      await rig.clock.advanceAsync(60);
      await (await one).release();
    }
    expect(served).toEqual([0, 1, 2, 3]);
  });

  it('a wait that ends leaves its place; one that ends with its turn passes it on', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    const held = await rig.acquire('k', { ttl: '1d' });
    const short = watch(rival.acquire('k', { wait: '2s' }));
    await rig.clock.settle();
    const second = watch(rival.acquire('k', { wait: '1m' }));
    await rig.clock.advanceAsync(2000);
    expect(await short.now()).toMatchObject({ code: 'LEASE_BUSY' });
    expect((await rig.engine.inspect('k'))?.waiters).toBe(1);
    const controller = new AbortController();
    const third = watch(rig.acquire('k', { wait: '1m', signal: controller.signal }));
    const fourth = watch(rig.acquire('k', { wait: '1m' }));
    await rig.clock.settle();
    ((await held.release(), await rig.clock.settle(), await second.now()) as Lease).release().catch(() => undefined);
    controller.abort(new Error('gone'));
    await rig.clock.advanceAsync(1);
    expect(await third.now()).toMatchObject({ message: 'gone' });
    expect(await fourth.now()).toMatchObject({ key: 'k' });
  });

  it('a place asked for without an answer is given up with the wait, and holds up nobody', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    const held = await rig.acquire('k', { ttl: '1d' });
    const first = rival.acquire('k', { wait: '5s' }).catch((error: unknown) => error);
    await rig.clock.settle();
    rival.faulty.dropReply('acquire', Infinity);
    const lost = rival.acquire('k', { wait: '5s' }).catch((error: unknown) => error);
    await rig.clock.advanceAsync(11_000);
    expect(await outcomeOf(lost)).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    await first;
    expect((await rig.engine.inspect('k'))?.waiters).toBe(0);
    await held.release();
    expect(await rig.tryAcquire('k')).toBeDefined();
  });

  it('with maxQueue in the line a further one is busy at once', async () => {
    const rig = new LeaseRig();
    await rig.acquire('k');
    const rival = new LeaseRig(rig.clock, rig.store, { maxQueue: 2 });
    for (let i = 0; i < 2; i++) void rival.acquire('k', { wait: '1h' }).catch(() => undefined);
    await rig.clock.settle();
    const refused = (await outcomeOf(rival.acquire('k', { wait: '1h' }))) as Error & { code: string };
    expect(refused.code).toBe('LEASE_BUSY');
    expect(refused.message).toContain('maxQueue');
  });

  it('words of presence that nobody answers tell the store that its connection may be dead', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    await rig.acquire('k', { ttl: '1d' });
    void rival.acquire('k', { wait: '1h' }).catch(() => undefined);
    await rig.clock.settle();
    let told = 0;
    rival.faulty.unanswered = () => (told += 1);
    rival.faulty.dropRequest('attend', 2);
    await rig.clock.advanceAsync(20_000);
    expect(told).toBe(2);
  });

  it('without notices it looks four times a second, and a place is taken all the same', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    let checks = 0;
    rival.faulty.onWake = () => ({
      ready: new Promise(() => undefined),
      live: false,
      check: () => (checks += 1),
      unsubscribe: () => undefined,
    });
    const held = await rig.acquire('k', { ttl: '1d' });
    const waiting = watch(rival.acquire('k', { wait: '1h' }));
    await rig.clock.advanceAsync(1100);
    expect((await rig.engine.inspect('k'))?.waiters).toBe(1);
    await held.release();
    await rig.clock.advanceAsync(260);
    const lease = (await waiting.now()) as Lease;
    expect(lease.key).toBe('k');
    void rival.acquire('k', { wait: '1h' }).catch(() => undefined);
    await rig.clock.advanceAsync(60_000);
    expect(checks).toBeGreaterThan(2);
    expect(checks).toBeLessThan(8);
  });

  it('a place that is given up while the store cannot be asked is taken back when it can again, however late', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    const held = await rig.acquire('k', { ttl: '1d' });
    const stays = watch(rival.acquire('k', { wait: '1d' }));
    await rig.clock.settle();
    const leaves = watch(rival.acquire('k', { ttl: '1s', wait: '10s' }));
    await rig.clock.settle();
    rival.faulty.fail('leave', new Error('down'), Infinity);
    await rig.clock.advanceAsync(120_000);
    expect(await leaves.now()).toMatchObject({ code: 'LEASE_BUSY' });
    expect((await rig.engine.inspect('k'))?.waiters).toBe(2);
    rival.faulty.heal('leave');
    await rig.clock.advanceAsync(3000);
    expect((await rig.engine.inspect('k'))?.waiters).toBe(1);
    await held.release();
    await rig.clock.settle();
    expect(await stays.now()).toMatchObject({ key: 'k' });
  });

  it('leaves no timer when nobody waits any more', async () => {
    const rig = new LeaseRig();
    const rival = rig.rival();
    const held = await rig.acquire('k');
    const waiting = rival.acquire('k', { wait: '1m' });
    await rig.clock.settle();
    await held.release();
    await (await waiting).release();
    await rig.clock.advanceAsync(60_000);
    expect(rig.clock.pendingTimers).toBe(0);
  });
});
