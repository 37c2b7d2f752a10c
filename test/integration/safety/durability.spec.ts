import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { rejection } from '../../support/attack-rig.js';
import { startHolder, type Holder } from '../../support/holder.js';
import { ReplicaSet } from '../../support/replica-set.js';
import { waitFor } from '../../support/wait-for.js';
import type { LeaseModuleOptions } from '../../../lib/lease-module-options.js';
import type { InstantRequest } from '../../../lib/lease/scheduled-instant.js';

let counter = 0;
const freshKey = (): string => `durable-${String(++counter)}`;

describe('durability: a lease counts only when replicas have it', () => {
  let set: ReplicaSet;
  let client: Redis;
  const holders: Holder[] = [];
  const start = (options: LeaseModuleOptions = {}): Holder => {
    const holder = startHolder({ connection: set.primary.url, durability: { replicas: 2, timeout: '300ms' }, ...options });
    holders.push(holder);
    return holder;
  };
  const instant = (key: string): InstantRequest => ({
    ...{ key, instant: Math.floor(Date.now() / 1000) * 1000, schedule: 's', lifeMs: 90_000_000, purpose: 'due', rerun: false },
    ...{ ttlMs: 5000, atLeastForMs: 0, patienceMs: 0 },
  });
  const isFree = (key: string): Promise<boolean> => waitFor(async () => (await client.exists(`lease:{${key}}`)) === 0);
  /** WAIT asks the replicas how far they are: resolves when both tell in time. */
  const allTell = (): Promise<unknown> =>
    waitFor(async () => (await client.set('warm', 'up', 'PX', 1000)) && (await client.wait(2, 1000)) === 2);
  beforeAll(async () => {
    set = await ReplicaSet.start(2);
    client = new Redis(set.primary.url, { retryStrategy: () => 20 });
    client.on('error', () => undefined);
    await allTell();
  });
  afterEach(async () => {
    for (const replica of set.replicas) replica.thaw();
    await Promise.all(holders.splice(0).map((holder) => holder.close()));
    await allTell();
  });
  afterAll(async () => {
    client.disconnect();
    await set.stop();
  });

  it.each([
    ['a URL', () => set.primary.url],
    ['a ready client of ioredis 5, with its prefix', () => new Redis5(set.primary.url, { keyPrefix: 'app:', lazyConnect: true })],
  ])('in ordinary times every way to a lease works (%s)', async (_, connection) => {
    const a = start({ connection: connection() });
    const key = freshKey();
    const lease = await a.service.acquire(key);
    const waiting = a.service.acquire(key, { wait: 5 });
    expect(await a.service.tryAcquire(key)).toBeUndefined();
    await lease.renew();
    await lease.release();
    const next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await next.release();
    const [one, two] = await Promise.all([a.engine.tryAcquireFirst([key, 'other'], ttl), a.engine.tryAcquireFirst([key, 'other'], ttl)]);
    expect(new Set([one?.key, two?.key])).toEqual(new Set([key, 'other']));
    await Promise.all([one?.release(), two?.release()]);
    const run = await a.engine.beginInstant(instant(`cron:${key}`), new AbortController().signal);
    expect(run.kind).toBe('granted');
    const leases = await Promise.all(Array.from({ length: 150 }, (__, i) => a.service.acquire(`${key}-${String(i)}`)));
    expect(new Set(leases.map(({ fencingToken }) => fencingToken)).size).toBeGreaterThan(0);
    await Promise.all(leases.map((held) => held.release()));
    expect(a.types()).not.toContain('release-failed');
  });
  const ttl = { ttlMs: 5000, waitMs: 0 };

  it('with a frozen replica it is undone and rejected, though WAIT on another connection would have counted both', async () => {
    const a = start();
    const key = freshKey();
    await (await a.service.acquire(freshKey())).release();
    const other = client.duplicate();
    await waitFor(async () => (await other.wait(2, 1000)) === 2);
    set.replicas[0]?.freeze();
    const call = rejection(a.service.acquire(key, { ttl: 20 }));
    await waitFor(async () => (await client.exists(`lease:{${key}}`)) === 1);
    // That connection has written nothing since, so its WAIT counts the frozen one, too.
    expect(await other.wait(2, 50)).toBe(2);
    other.disconnect();
    const error = await call;
    expect(error).toMatchObject({ code: 'LEASE_NOT_DURABLE', status: 503, key, confirmed: 1, required: 2 });
    expect(error.message).toContain('1 of the 2 replicas');
    await isFree(key);
    expect(a.seen.filter((event) => event.type === 'acquired' && event.key === key)).toEqual([]);
  });

  it('works in the line: a claim that replicas miss is repeated while the wait lasts, and counts once they have it', async () => {
    const a = start();
    const key = freshKey();
    const first = await a.service.acquire(key, { ttl: 20 });
    const waiting = a.service.acquire(key, { ttl: 20, wait: 20 });
    await waitFor(async () => (await client.zcard(`lease:{${key}}:queue`)) === 1);
    set.replicas[1]?.freeze();
    await first.release();
    await waitFor(async () => ((await client.get(`lease:{${key}}`)) ?? '').includes(' h '));
    const refused = await rejection(a.service.acquire(key, { ttl: 20 }));
    expect(refused.code).toBe('LEASE_BUSY');
    set.replicas[1]?.thaw();
    const lease = await waiting;
    lease.assertHeld();
    expect(await lease.release()).toBe(true);
  });

  it('a wait that ends without the replicas leaves nothing behind', async () => {
    const a = start();
    const key = freshKey();
    set.replicas[1]?.freeze();
    expect(await rejection(a.service.acquire(key, { ttl: 20, wait: 1 }))).toMatchObject({ code: 'LEASE_NOT_DURABLE', key });
    await isFree(key);
    expect(await client.exists(`lease:{${key}}:queue`, `lease:{${key}}:waiters`)).toBe(0);
  });

  it('an instant that replicas miss counts as not run, and the first free job is not claimed', async () => {
    const a = start();
    const [key, job] = [`cron:${freshKey()}`, freshKey()];
    set.replicas[0]?.freeze();
    const outcome = await a.engine.beginInstant(instant(key), new AbortController().signal);
    expect(outcome).toMatchObject({ kind: 'unavailable', error: { replicas: { confirmed: 1, required: 2 } } });
    await isFree(key);
    await waitFor(async () => (await client.hget(`lease:{${key}}:instants`, 'state')) === 'unstarted');
    expect(await rejection(a.engine.tryAcquireFirst([job], ttl))).toMatchObject({ code: 'LEASE_NOT_DURABLE' });
    await isFree(job);
    set.replicas[0]?.thaw();
    const again = await a.engine.beginInstant({ ...instant(key), purpose: 'look', patienceMs: 5000 }, new AbortController().signal);
    expect(['granted', 'done']).toContain(again.kind);
  });

  it('other calls do not wait for replicas: what is held is renewed and released while they hang', async () => {
    const a = start({ durability: { replicas: 2, timeout: '1500ms' } });
    const held = await a.service.acquire(freshKey(), { ttl: 60 });
    set.replicas[0]?.freeze();
    const blocked = rejection(a.service.acquire(freshKey(), { ttl: 60 }));
    await waitFor(async () => String(await client.client('LIST')).includes('cmd=wait'));
    await held.renew();
    expect(await held.release()).toBe(true);
    expect(String(await client.client('LIST')).includes('cmd=wait')).toBe(true);
    expect((await blocked).code).toBe('LEASE_NOT_DURABLE');
  });

  it('many who ask while a replica hangs are told why, and no connection is taken for dead', async () => {
    const a = start({ durability: { replicas: 2, timeout: '400ms' } });
    const connections = async (): Promise<string[]> =>
      [...String(await client.client('LIST')).matchAll(/^id=(\d+) .*name=nestjs-lease .*/gm)].map(([, id]) => id as string);
    await (await a.service.acquire(freshKey())).release();
    const before = await connections();
    set.replicas[0]?.freeze();
    const calls: Promise<{ code: string }>[] = [];
    for (let i = 0; i < 100; i++) {
      calls.push(rejection(a.service.acquire(freshKey(), { ttl: i % 3 === 0 ? 1 : 30 })));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const codes = new Set((await Promise.all(calls)).filter((_, i) => i % 3 !== 0).map(({ code }) => code));
    expect([...codes]).toEqual(['LEASE_NOT_DURABLE']);
    expect(await connections()).toEqual(before);
  });

  it('leaves no key without an end, its markers included', async () => {
    const a = start();
    await (await a.service.acquire(freshKey())).release();
    const keys = await client.keys('lease:*');
    const ttls = await Promise.all(keys.map((key) => client.pttl(key)));
    expect(keys.filter((_, i) => ttls[i] === -1)).toEqual([]);
  });

  it('a retried acquire that writes nothing new is counted by its marker', async () => {
    const { store } = start();
    const key = freshKey();
    const request = { key, holderId: 'one', holderTag: 'tag', holder: 'host', ttlMs: 20_000 };
    const granted = await store.acquire(request);
    set.replicas[0]?.freeze();
    await expect(store.acquire(request)).rejects.toMatchObject({ replicas: { confirmed: 1, required: 2 } });
    set.replicas[0]?.thaw();
    expect(await store.acquire(request)).toMatchObject({ fencingToken: (granted as { fencingToken: number }).fencingToken });
    await store.leave(request);
  });

  it('where WAIT is refused nothing is granted, and the error says so', async () => {
    await client.call('ACL', 'SETUSER', 'nowait', 'on', '>pw', '~*', '&*', '+@all', '-wait');
    const a = start({ connection: { host: set.primary.host, port: set.primary.port, username: 'nowait', password: 'pw' } });
    const key = freshKey();
    const error = await rejection(a.service.acquire(key, { wait: 5 }));
    expect(error).toMatchObject({ code: 'LEASE_UNAVAILABLE', key });
    expect(error.message).toMatch(/refuses WAIT.*durability/);
    expect(await client.exists(`lease:{${key}}`, `lease:{${key}}:fence`)).toBe(0);
    await expect(a.store.ping()).rejects.toMatchObject({ message: expect.stringContaining('refuses WAIT') });
    // Taken away while connected: what was granted meanwhile is taken back.
    await client.call('ACL', 'SETUSER', 'nowait', '+wait');
    const b = start({ connection: { host: set.primary.host, port: set.primary.port, username: 'nowait', password: 'pw' } });
    await (await b.service.acquire(key)).release();
    await client.call('ACL', 'SETUSER', 'nowait', '-wait');
    expect(await rejection(b.service.acquire(key))).toMatchObject({
      code: 'LEASE_NOT_DURABLE',
      message: expect.stringContaining('refuses WAIT'),
    });
    await isFree(key);
  });
});
