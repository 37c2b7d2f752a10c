import { setMaxListeners } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import type { Lease } from '../../../lib/lease/lease.js';
import { rejection } from '../../support/attack-rig.js';
import type { Holder } from '../../support/holder.js';
import { waitFor } from '../../support/wait-for.js';
import { LineRig, releaseEach, upTo } from './line-rig.js';

jest.setTimeout(30_000);

describe('a line of waiters over processes', () => {
  const rig = new LineRig();

  it('is served in the order of arrival, whichever process they wait in', async () => {
    const processes = [rig.rival(), rig.rival(), rig.rival()];
    const key = rig.key();
    const held = await (processes[0] as Holder).service.acquire(key);
    const served: number[] = [];
    const waiting: Promise<Lease>[] = [];
    for (const i of upTo(15)) await rig.join(processes[(i * 7) % 3] as Holder, key, waiting, () => served.push(i));
    const done = releaseEach(waiting);
    await held.release();
    await done;
    expect(served).toEqual(upTo(15));
    expect(await rig.client.keys(`${rig.leaseKey(key)}:[qw]*`)).toEqual([]);
  });

  it('the wait has nothing to do with the ttl: a lease that is released after two ttls is taken with a full one (redislock#74, redlock-rb#16)', async () => {
    const [a, b] = [rig.rival(), rig.rival()];
    const key = rig.key();
    const held = await a.service.acquire(key, { ttl: 1 });
    const start = performance.now();
    const waiting = b.service.acquire(key, { ttl: 1, wait: 6 });
    setTimeout(() => void held.release(), 2000);
    const lease = await waiting;
    expect(performance.now() - start).toBeGreaterThan(1990);
    expect(performance.now() - start).toBeLessThan(2200);
    expect(lease.remainingMs()).toBeGreaterThan(900);
  });

  it('what is protected does not run when the wait was in vain (redis-py#661, distributed-lock#35, Foundatio#508)', async () => {
    const [a, b] = [rig.rival(), rig.rival()];
    const key = rig.key();
    await a.service.acquire(key);
    let ran = false;
    const call = b.service.withLease(key, { wait: '100ms' }, () => (ran = true));
    expect(await rejection(call)).toMatchObject({ code: 'LEASE_BUSY' });
    expect(ran).toBe(false);
    await waitFor(async () => (await rig.lengthOf(key)) === 0);
  });

  it('a hundred waiters with 10 ms of work: all served, without retry bursts (medusa#15143, node-redlock#51, consul#9469)', async () => {
    const processes = upTo(4).map(() => rig.rival());
    const key = rig.key();
    await Promise.all(processes.map((process) => rig.warm(process)));
    await rig.resetStats();
    const waited = processes.flatMap((process) => upTo(25).map(() => process.service.acquire(key, { wait: 5 })));
    await releaseEach(waited, 10);
    expect(await rig.roundTrips()).toBeLessThanOrEqual(100 * 3 + 30);
  });

  it('one whose limit ends in the same moment as its grant hands the lease on', async () => {
    const [a, b, c] = [rig.rival(), rig.rival(), rig.rival()];
    await Promise.all([a, b, c].map((holder) => rig.warm(holder)));
    const outcomes = new Set<string>();
    for (const i of upTo(30)) {
      const key = rig.key();
      const held = await a.service.acquire(key);
      const asked = performance.now();
      const late = b.service.acquire(key, { wait: '40ms' });
      const outcome = late.then(
        (lease) => lease.release().then(() => 'granted'),
        (error: unknown) => (error as { code: string }).code,
      );
      const next: Promise<Lease>[] = [];
      await rig.join(c, key, next);
      setTimeout(() => void held.release(), 40 - (performance.now() - asked) + (i % 7) - 3);
      outcomes.add(await outcome);
      await (await (next[0] as Promise<Lease>)).release();
      expect(performance.now() - asked).toBeLessThan(400);
    }
    expect([...outcomes].sort()).toEqual(['LEASE_BUSY', 'granted']);
  });
});

describe('what waiting costs Redis', () => {
  const rig = new LineRig();

  it('at most one command a second while 50 wait for a held lease', async () => {
    const [a, b] = [rig.rival(), rig.rival()];
    const key = rig.key();
    await a.service.acquire(key);
    const controller = new AbortController();
    setMaxListeners(60, controller.signal);
    const waiting = upTo(50).map(() => b.service.acquire(key, { wait: 60, signal: controller.signal }).catch(() => undefined));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await rig.lengthOf(key)).toBe(50);
    await rig.resetStats();
    await new Promise((resolve) => setTimeout(resolve, 7000));
    expect(await rig.roundTrips()).toBeLessThanOrEqual(7);
    controller.abort();
    await Promise.all(waiting);
  });

  it.each([50, 1000])('at most three commands for a hand-over with %d waiters in four processes', async (n) => {
    const processes = upTo(4).map(() => rig.rival());
    const key = rig.key();
    const held = await (processes[0] as Holder).service.acquire(key);
    await Promise.all(processes.map((process) => rig.warm(process)));
    const waiting = upTo(n).map((i) => (processes[i % 4] as Holder).service.acquire(key, { wait: 60 }));
    while ((await rig.lengthOf(key)) < n) await new Promise((resolve) => setTimeout(resolve, 5));
    await rig.resetStats();
    await Promise.all([releaseEach(waiting), held.release()]);
    expect((await rig.roundTrips()) / n).toBeLessThanOrEqual(3);
  });
});
