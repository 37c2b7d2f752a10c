import { describe, expect, it, jest } from '@jest/globals';
import { join } from 'node:path';
import type { Lease } from '../../../lib/lease/lease.js';
import type { Wake } from '../../../lib/stores/lease-store.js';
import type { Holder } from '../../support/holder.js';
import { TestProcess } from '../../support/process.js';
import { waitFor } from '../../support/wait-for.js';
import { LineRig, releaseEach, upTo } from './line-rig.js';

jest.setTimeout(40_000);
const program = join(import.meta.dirname, '..', '..', 'chaos', 'waiting', 'waiter.process.ts');

describe('waiting while the line to Redis breaks', () => {
  const rig = new LineRig();

  it('the subscription is cut while 50 wait and the holder releases in the gap: one poll each, order kept, no busy loop', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const held = await b.service.acquire(key);
    const served: number[] = [];
    const waiting = upTo(50).map((i) => a.service.acquire(key, { wait: 30 }).finally(() => served.push(i)));
    const done = releaseEach(waiting);
    await waitFor(async () => (await rig.lengthOf(key)) === 50);
    await rig.resetStats();
    rig.proxy.refuse();
    await rig.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await held.release();
    await waitFor(() => rig.proxy.refused >= 2, { message: 'the subscription to be tried again' });
    rig.proxy.pass();
    const start = performance.now();
    await done;
    expect(performance.now() - start).toBeLessThan(4000);
    expect(served).toEqual(upTo(50));
    // Two for each hand-over, and one look of each after the gap.
    expect(await rig.roundTrips()).toBeLessThanOrEqual(50 * 2 + 50 + 15);
  });

  it('Redis is restarted empty while 5 wait: they take the lease in their order (redisson#1763)', async () => {
    const [a, b] = [rig.rival(), rig.rival()];
    const key = rig.key();
    await b.service.acquire(key);
    const served: number[] = [];
    const waiting: Promise<Lease>[] = upTo(5).map((i) => a.service.acquire(key, { wait: 30 }).finally(() => served.push(i)));
    const done = releaseEach(waiting);
    await waitFor(async () => (await rig.lengthOf(key)) === 5);
    await rig.server.restart();
    await done;
    expect(served).toEqual(upTo(5));
    await waitFor(async () => (await rig.client.keys(`${rig.leaseKey(key)}:[qw]*`)).length === 0);
  });

  it('FLUSHALL while 5 wait in two processes: everybody is served', async () => {
    const [a, b] = [rig.rival(), rig.rival()];
    const key = rig.key();
    await b.service.acquire(key, { ttl: 2 });
    const waiting = upTo(5).map((i) => ([a, b][i % 2] as Holder).service.acquire(key, { ttl: 2, wait: 30 }));
    await waitFor(async () => (await rig.lengthOf(key)) === 5);
    await rig.client.flushall();
    await releaseEach(waiting);
  });

  it('SUBSCRIBE does not get through, the holder releases in the gap: served within a poll, and notices come later (redisson#6026)', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const held = await b.service.acquire(key);
    rig.proxy.commands((command) => (command[0]?.toLowerCase() === 'subscribe' ? 'reset' : 'pass'));
    const waiting = a.service.acquire(key, { wait: 30 });
    await waitFor(async () => (await rig.lengthOf(key)) === 1, { message: 'a place in the line without a subscription' });
    const start = performance.now();
    await held.release();
    const lease = await waiting;
    expect(performance.now() - start).toBeLessThan(1000);
    rig.proxy.pass();
    await waitFor(async () => String(await rig.client.call('CLIENT', 'LIST', 'TYPE', 'pubsub')).includes('sub=1'));
    const next = rig.rival().service.acquire(key, { wait: 30 });
    await waitFor(async () => (await rig.lengthOf(key)) === 1);
    await lease.release();
    await (await next).release();
  });

  it('notices come later than a claim may take: everybody is served all the same', async () => {
    const processes = upTo(2).map(() => rig.rival({ commandTimeout: '500ms' }));
    for (const { store } of processes) {
      const onWake = store.onWake.bind(store);
      store.onWake = (process, listener) => onWake(process, (wake: Wake) => void setTimeout(() => listener(wake), 1300));
    }
    const key = rig.key();
    const held = await rig.rival().service.acquire(key, { ttl: 10 });
    const waiting = upTo(4).map((i) => (processes[i % 2] as Holder).service.acquire(key, { ttl: 10, wait: 30 }));
    await waitFor(async () => (await rig.lengthOf(key)) === 4);
    await held.release();
    await releaseEach(waiting);
    expect(await rig.client.exists(rig.leaseKey(key))).toBe(0);
  });
});

describe('waiting behind the dead', () => {
  const rig = new LineRig();
  const start = (): TestProcess => new TestProcess(program, { url: rig.server.url, namespace: 'attack' });

  it.each([
    [1000, 1000],
    [30, 500],
  ])('%d dead waiters and the holder, ttl %d ms: a live one is served within a ttl, one claim and a poll', async (dead, ttlMs) => {
    const key = rig.key();
    const ttl = `${String(ttlMs)}ms`;
    const doomed = start();
    await doomed.message('ready');
    doomed.send({ type: 'wait', id: 'holder', key, ttl, wait: '1s' });
    await doomed.message('granted');
    doomed.send({ type: 'orders', orders: upTo(dead).map((i) => ({ type: 'wait', id: String(i), key, ttl, wait: '1h' })) });
    await waitFor(async () => (await rig.lengthOf(key)) === dead);
    const live = rig.rival();
    const waiting = live.service.acquire(key, { ttl, wait: 30 });
    await waitFor(async () => (await rig.lengthOf(key)) === dead + 1);
    await doomed.kill();
    const at = performance.now();
    const lease = await waiting;
    expect(performance.now() - at).toBeLessThan(ttlMs + ttlMs + 2 * 50 + 250);
    expect(await lease.release()).toBe(true);
  });
});

describe('waiting for a user without rights on channels', () => {
  const rig = new LineRig();

  it('works by looking, in order (NOPERM on SUBSCRIBE and PUBLISH)', async () => {
    await rig.client.acl('SETUSER', 'mute', 'on', '>pw', '~*', '+@all', 'resetchannels');
    const connection = rig.server.url.replace('redis://', 'redis://mute:pw@');
    const processes = upTo(2).map(() => rig.rival({ connection }));
    const key = rig.key();
    const held = await (processes[0] as Holder).service.acquire(key);
    const served: number[] = [];
    const waiting: Promise<Lease>[] = [];
    for (const i of upTo(6)) await rig.join(processes[i % 2] as Holder, key, waiting, () => served.push(i));
    const at = performance.now();
    await Promise.all([releaseEach(waiting), held.release()]);
    expect(served).toEqual(upTo(6));
    expect(performance.now() - at).toBeLessThan(6 * 400);
  });
});
