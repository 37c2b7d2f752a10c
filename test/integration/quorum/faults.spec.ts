import { describe, expect, it } from '@jest/globals';
import { Redis as Redis5 } from 'ioredis5';
import { LeaseEvents } from '../../../lib/events/lease-events.js';
import { LeaseEngine } from '../../../lib/lease/lease-engine.js';
import { resolveAcquireOptions, type AcquireOptions, type LeaseDefaults } from '../../../lib/lease/lease-options.js';
import type { LeaseStore } from '../../../lib/stores/lease-store.js';
import { SystemClock } from '../../../lib/time/system-clock.js';
import { waitFor } from '../../support/wait-for.js';
import { errorOf, FORGETFUL, grantedOf, NodesRig } from './rig.js';

const options = { nodesForget: false };
const DEFAULTS: LeaseDefaults = { ttlMs: 1000, waitMs: 0, commandTimeoutMs: 5000 };

/** The engine of a process of the fleet. */
function engineOn(store: LeaseStore): LeaseEngine {
  return new LeaseEngine({ store, clock: new SystemClock(), events: new LeaseEvents(), defaults: DEFAULTS, holder: 'test:1' });
}

const how = (given: AcquireOptions) => resolveAcquireOptions(given, DEFAULTS);

describe('a quorum of three Redis servers', () => {
  const rig = new NodesRig([FORGETFUL, FORGETFUL, FORGETFUL]);

  it('a token is never written back to a node that somebody else holds (the 13 steps)', async () => {
    const store = rig.quorum(options);
    await rig.takeAtLast(store);
    // A has 1 and 2. At node 3 its lease is lost, and B has it, before A's token gets there.
    const request = rig.ask('steps', { ttlMs: 5000, floor: (Date.now() + 60_000) * 1000 });
    const b = rig.ask('steps', { ttlMs: 5000 });
    const third = rig.node(2);
    rig.proxies[2]!.commands((command) => (isConfirm(command) ? 'reset' : 'pass'));
    const a = grantedOf(await store.acquire(request));
    await rig.servers[2]!.ask('FLUSHALL');
    rig.proxies[2]!.pass();
    const ownOfB = grantedOf(await third.acquire(b)).fencingToken;
    expect(ownOfB).toBeLessThan(a.fencingToken);
    // A's renewals carry its token to every node, and find B there.
    expect((await store.renew([{ ...request, fencingToken: a.fencingToken }]))[0]).toEqual({ kind: 'held' });
    expect(await rig.holderOf(2, 'steps')).toBe(b.holderTag);
    expect(await rig.fenceOf(2, 'steps')).toBe(ownOfB);
    await store.release({ ...request, fencingToken: a.fencingToken });
    // B takes another node, which knows A's token.
    const next = grantedOf(await rig.quorum(options).acquire(b));
    expect(next.fencingToken).toBeGreaterThan(a.fencingToken);
  });

  it('one node down: leases are had, live on beyond their ttl, and are given back', async () => {
    const engine = engineOn(rig.quorum(options));
    const before = await engine.acquire('minority', how({ ttl: '1500ms', wait: 15 }));
    await rig.servers[0]!.kill();
    const after = await engine.acquire('minority-2', how({ ttl: '1500ms', wait: 15 }));
    await new Promise((resolve) => setTimeout(resolve, 1800));
    before.assertHeld();
    after.assertHeld();
    expect(await before.release()).toBe(true);
    expect(await after.release()).toBe(true);
    await engine.close();
  });

  it('a majority down: unavailable, with a typed error, and a lease that is held is lost in time', async () => {
    const engine = engineOn(rig.quorum(options));
    const lease = await engine.acquire('majority', how({ ttl: 2, wait: 15 }));
    await Promise.all([rig.servers[0]!.kill(), rig.servers[1]!.kill()]);
    const error = await errorOf(engine.acquire('majority-2', how({ ttl: 1 })));
    expect(error).toMatchObject({ code: 'LEASE_UNAVAILABLE', message: expect.stringMatching(/no majority \(2 of 3\)/) });
    expect(await lease.lost).toMatchObject({ reason: 'store' });
    await Promise.all([rig.servers[0]!.restart(), rig.servers[1]!.restart()]);
    const next = await waitFor(() => engine.acquire('majority', how({ ttl: 1 })), { timeoutMs: 15_000, intervalMs: 50 });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await next.release();
    await engine.close();
  });

  it('a node that hangs costs a moment once, and nothing is waited for when it is known to hang', async () => {
    const store = rig.quorum(options);
    await rig.takeAtLast(store);
    rig.servers[2]!.freeze();
    const held = await rig.takeAtLast(store, 'hang', { ttlMs: 30_000 });
    await waitFor(() => store['links'][2]!.silent, { message: 'the silence of node 3 to be noticed' });
    const start = performance.now();
    for (let i = 0; i < 20; i++) await store.release(await rig.takeAtLast(store, `hang-${i}`, { ttlMs: 30_000 }));
    expect(performance.now() - start).toBeLessThan(2000);
    expect((await store.renew([held]))[0]).toEqual({ kind: 'held' });
    rig.servers[2]!.thaw();
  });

  it('a node slower than its time limit: its late grant has a higher token, does not count, and is given back', async () => {
    const store = rig.quorum({ ...options, nodeTimeout: '300ms' });
    await rig.takeAtLast(store);
    rig.proxies[2]!.delay(600, 'request');
    const held = await rig.takeAtLast(store, 'slow', { ttlMs: 20_000 });
    expect(await rig.fenceOf(2, 'slow')).toBe(0);
    await waitFor(async () => (await rig.fenceOf(2, 'slow')) > held.fencingToken, { message: 'the late grant' });
    rig.proxies[2]!.pass();
    await waitFor(async () => (await rig.holderOf(2, 'slow')) === undefined, { timeoutMs: 10_000, message: 'it to be given back' });
    expect((await store.renew([held]))[0]).toEqual({ kind: 'held' });
    expect(await store.release(held)).toEqual({ kind: 'released' });
    expect((await rig.takeAtLast(rig.quorum(options), 'slow')).fencingToken).toBeGreaterThan(held.fencingToken);
  });

  it('a lease whose answers took longer than it would live is no lease, and nothing of it is left', async () => {
    const store = rig.quorum({ ...options, nodeTimeout: '5s' });
    await rig.takeAtLast(store);
    for (const proxy of rig.proxies) proxy.delay(120, 'reply');
    const request = rig.ask('validity', { ttlMs: 200 });
    await errorOf(store.acquire(request));
    for (const proxy of rig.proxies) proxy.pass();
    await rig.takeAtLast(rig.quorum(options), 'validity');
  });

  it('a grant whose answer was lost is undone, though nobody got the lease', async () => {
    const store = rig.quorum({ ...options, nodeTimeout: '300ms' });
    await rig.takeAtLast(store);
    rig.isolate(0);
    rig.isolate(1);
    rig.proxies[2]!.drop('reply');
    const request = rig.ask('lost', { ttlMs: 20_000 });
    await errorOf(store.acquire(request));
    expect(await rig.holderOf(2, 'lost')).toBe(request.holderTag);
    for (const proxy of rig.proxies) proxy.pass();
    await waitFor(async () => (await rig.holderOf(2, 'lost')) === undefined, { timeoutMs: 10_000, message: 'it to be undone' });
  });

  it('a release that reaches only some nodes: the others are told when they are back', async () => {
    const store = rig.quorum({ ...options, nodeTimeout: '300ms' });
    const held = await rig.takeAtLast(store, 'partial', { ttlMs: 20_000 });
    rig.isolate(2);
    expect(await store.release(held)).toEqual({ kind: 'released' });
    expect(await rig.holderOf(2, 'partial')).toBe(held.holderTag);
    rig.proxies[2]!.pass();
    await waitFor(async () => (await rig.holderOf(2, 'partial')) === undefined, { timeoutMs: 10_000, message: 'node 3 to be told' });
  });

  it('many at once: votes that are split settle, one holder at a time, and tokens only increase', async () => {
    const engines = Array.from({ length: 4 }, () => engineOn(rig.quorum(options)));
    const tokens: number[] = [];
    let inside = 0;
    const worker = async (engine: LeaseEngine): Promise<void> => {
      for (let i = 0; i < 8; i++) {
        const lease = await engine.acquire('many', how({ ttl: 20, wait: 25 }));
        inside += 1;
        expect(inside).toBe(1);
        tokens.push(lease.fencingToken);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inside -= 1;
        await lease.release();
      }
    };
    await Promise.all(engines.map(worker));
    expect(tokens).toHaveLength(32);
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    await Promise.all(engines.map((engine) => engine.close()));
  });

  it('ready clients of ioredis 5 are nodes too, and stay open', async () => {
    const clients = rig.servers.map(({ url }) => new Redis5(url));
    try {
      const store = rig.quorum(options, clients);
      const held = await rig.takeAtLast(store);
      expect((await store.renew([held]))[0]).toEqual({ kind: 'held' });
      await store.close();
      expect(await Promise.all(clients.map((client) => client.ping()))).toEqual(['PONG', 'PONG', 'PONG']);
    } finally {
      for (const client of clients) client.disconnect();
    }
  });
});

/** The second step of a lease: `strict` is the second of ARGV, after two KEYS. */
function isConfirm([name, , keys, , , , strict]: readonly string[]): boolean {
  return /^EVAL(SHA)?$/i.test(name ?? '') && keys === '2' && strict === '1';
}
