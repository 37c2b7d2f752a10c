import { describe, expect, it } from '@jest/globals';
import { getEventListeners, getMaxListeners, setMaxListeners } from 'node:events';
import { StoreError } from '../../../lib/stores/lease-store.js';
import { LeaseRig, outcomeOf, watch } from '../../support/lease-rig.js';

describe('acquire', () => {
  it('is busy at once without a wait, with what is known of the holder but never its id', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '10s' });
    await rig.clock.advanceAsync(1000);
    const error = await rig
      .rival()
      .acquire('k')
      .catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: 'LEASE_BUSY',
      key: 'k',
      holder: 'test:1',
      holderTag: lease.holderTag,
      fencingToken: lease.fencingToken,
      retryAfterMs: 9000,
    });
    expect(JSON.stringify(error)).not.toContain(lease.holderId);
    expect(await rig.rival().tryAcquire('k')).toBeUndefined();
  });

  it('gives every acquisition its own holder id and a higher token (murlock#33)', async () => {
    const rig = new LeaseRig();
    const seen = new Set<string>();
    let last = 0;
    for (let i = 0; i < 100; i++) {
      const both = await Promise.allSettled([rig.acquire('order:1'), rig.acquire('order:1')]);
      const won = both.filter((result) => result.status === 'fulfilled');
      expect(won).toHaveLength(1);
      const lease = won[0]?.value;
      expect(lease?.fencingToken).toBeGreaterThan(last);
      last = lease?.fencingToken ?? 0;
      seen.add(lease?.holderId ?? '');
      await lease?.release();
    }
    expect(seen.size).toBe(100);
  });

  it('waits until the holder is done and gets the full ttl from its own successful try (node-redlock#296)', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '1s' });
    const waiting = rig.rival().acquire('k', { ttl: '1s', wait: '3s' });
    await rig.clock.advanceAsync(1200);
    expect(await outcomeOf(waiting)).toBe('pending');
    await lease.release();
    await rig.clock.advanceAsync(400);
    const next = await waiting;
    expect(next.remainingMs()).toBeGreaterThan(600);
    expect(() => next.assertHeld()).not.toThrow();
  });

  it('the wait is independent of the ttl (redislock#74)', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '2s' });
    const waiting = rig.rival().acquire('k', { ttl: '2s', wait: '6s' });
    await rig.clock.advanceAsync(4000);
    await lease.release();
    await rig.clock.advanceAsync(400);
    expect((await waiting).remainingMs()).toBeGreaterThan(1500);
  });

  it('is busy when the wait is over, not later', async () => {
    const rig = new LeaseRig();
    await rig.acquire('k');
    const waiting = watch(rig.rival().acquire('k', { wait: '2s' }));
    await rig.clock.advanceAsync(1999);
    expect(await waiting.now()).toBe('pending');
    await rig.clock.advanceAsync(60);
    expect(await waiting.now()).toMatchObject({ code: 'LEASE_BUSY' });
  });

  it('a waiter that gives up leaves nothing, and does not touch the holder', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k');
    const rival = rig.rival();
    const waiting = outcomeOf(rival.acquire('k', { wait: '1s' }).catch((e: unknown) => e));
    await rig.clock.advanceAsync(2000);
    await waiting;
    expect((await rig.engine.inspect('k'))?.fencingToken).toBe(lease.fencingToken);
    expect(rival.clock.pendingTimers).toBe(1);
  });

  it('spreads the tries of many waiters and bounds them (medusa#15143)', async () => {
    const rig = new LeaseRig();
    await rig.acquire('k', { ttl: '1m' });
    const rival = rig.rival();
    const waiting = Array.from({ length: 100 }, () => rival.acquire('k', { wait: '5s' }).catch((e: unknown) => e));
    await rig.clock.advanceAsync(5100);
    await Promise.all(waiting);
    expect(rival.faulty.calls('acquire').length).toBeLessThan(100 * 5 * 8);
  });

  it('retries transient errors while it may wait, with the same holder id', async () => {
    const rig = new LeaseRig();
    rig.faulty.fail('acquire', new Error('ECONNRESET'), 3);
    const waiting = rig.acquire('k', { wait: '5s' });
    await rig.clock.advanceAsync(3000);
    expect((await waiting).remainingMs()).toBeGreaterThan(0);
    expect(new Set(rig.faulty.calls('acquire').map((call) => call.holderId)).size).toBe(1);
  });

  it('does not retry what will not get better, and says it at once', async () => {
    const rig = new LeaseRig();
    for (const kind of ['fatal', 'foreign'] as const) {
      rig.faulty.fail('acquire', new StoreError(kind, 'WRONGTYPE something'), 1);
      expect(await outcomeOf(rig.acquire('k', { wait: '5s' }))).toMatchObject({
        code: 'LEASE_UNAVAILABLE',
        message: expect.stringContaining('WRONGTYPE'),
      });
    }
  });

  it('refuses an empty key and one that is no string', async () => {
    const rig = new LeaseRig();
    for (const key of ['', undefined, null, 7, {}]) {
      await expect(rig.acquire(key as string)).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
    }
    expect(rig.faulty.calls('acquire')).toHaveLength(0);
  });

  it('a further waiter of a key is busy at once when maxQueue already wait', async () => {
    const rig = new LeaseRig();
    await rig.acquire('k');
    const rival = new LeaseRig(rig.clock, rig.store, { maxQueue: 2 });
    const waiting = [rival.acquire('k', { wait: '5s' }), rival.acquire('k', { wait: '5s' })];
    await rig.clock.settle();
    expect(await outcomeOf(rival.acquire('k', { wait: '5s' }))).toMatchObject({
      code: 'LEASE_BUSY',
      message: expect.stringContaining('maxQueue'),
    });
    expect(await outcomeOf(waiting[0] as Promise<unknown>)).toBe('pending');
    await rig.clock.advanceAsync(5100);
    for (const one of waiting) expect(await outcomeOf(one)).toMatchObject({ code: 'LEASE_BUSY' });
  });
});

describe('acquire: the signal of the caller', () => {
  it('rejects with its reason, also when it was aborted before', async () => {
    const rig = new LeaseRig();
    await rig.acquire('k');
    const reason = new Error('client has gone');
    const controller = new AbortController();
    const waiting = watch(rig.rival().acquire('k', { wait: '5s', signal: controller.signal }));
    await rig.clock.advanceAsync(100);
    controller.abort(reason);
    expect(await waiting.now()).toBe(reason);
    expect(await outcomeOf(rig.acquire('other', { signal: controller.signal }))).toBe(reason);
    expect(rig.faulty.calls('acquire').filter((call) => call.key === 'other')).toHaveLength(0);
  });

  it('may be shared by any number of waits: Node warns of no leak, and nothing stays on it', async () => {
    const rig = new LeaseRig();
    await rig.acquire('k');
    const controller = new AbortController();
    const { signal } = controller;
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on('warning', hear);
    const waits = Array.from({ length: 30 }, () => watch(rig.rival().acquire('k', { wait: '5s', signal })));
    await rig.clock.advanceAsync(100);
    const most = getMaxListeners(signal);
    controller.abort(new Error('gone'));
    for (const wait of waits) expect(await wait.now()).toMatchObject({ message: 'gone' });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', hear);
    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(most - getMaxListeners(signal)).toBe(30);
  });

  it('may have no limit of listeners', async () => {
    const rig = new LeaseRig();
    const { signal } = new AbortController();
    setMaxListeners(0, signal);
    await (await rig.acquire('k', { wait: '5s', signal })).release();
    expect(await rig.acquire('k', { signal })).toBeDefined();
  });

  it('takes back what was under way, and passes the lease on', async () => {
    const rig = new LeaseRig();
    const controller = new AbortController();
    rig.faulty.delayReply('acquire', 500);
    const waiting = watch(rig.acquire('k', { wait: '5s', signal: controller.signal }));
    await rig.clock.advanceAsync(100);
    controller.abort(new Error('gone'));
    expect(await waiting.now()).toMatchObject({ message: 'gone' });
    await rig.clock.advanceAsync(10);
    expect(await rig.rival().tryAcquire('k')).toBeDefined();
    expect(rig.told('acquired')).toHaveLength(0);
  });
});

describe('acquire: an answer that did not come in time', () => {
  it('rejects within its time limit and is undone by its holder id; nobody waits for the ttl (redlock-rb#76)', async () => {
    const rig = new LeaseRig();
    rig.faulty.dropReply('acquire');
    const call = watch(rig.acquire('k', { ttl: '5s' }));
    await rig.clock.advanceAsync(833);
    expect(await call.now()).toBe('pending');
    await rig.clock.advanceAsync(1);
    expect(await call.now()).toMatchObject({ code: 'LEASE_UNAVAILABLE', message: expect.stringContaining('did not answer') });
    await rig.clock.settle();
    expect(await rig.rival().tryAcquire('k')).toBeDefined();
  });

  it('never takes longer than commandTimeout', async () => {
    const rig = new LeaseRig();
    rig.faulty.dropRequest('acquire');
    const call = watch(rig.acquire('k', { ttl: '1d' }));
    await rig.clock.advanceAsync(5000);
    expect(await call.now()).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
  });

  it('takes back a grant that is carried out late, again and again until the request is over', async () => {
    const rig = new LeaseRig();
    rig.faulty.delay('acquire', 3000);
    const call = watch(rig.acquire('k', { ttl: '5s' }));
    await rig.clock.advanceAsync(1000);
    expect(await call.now()).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    await rig.clock.advanceAsync(2001);
    expect(await rig.engine.inspect('k')).toBeUndefined();
    await rig.clock.advanceAsync(10_000);
    expect(rig.clock.pendingTimers).toBe(0);
    expect(rig.told('acquired')).toHaveLength(0);
  });

  it('a grant that arrives when the lease is as good as over is never handed out', async () => {
    const rig = new LeaseRig();
    rig.faulty.delayReply('acquire', 70);
    const call = watch(rig.acquire('k', { ttl: '100ms' }));
    await rig.clock.advanceAsync(100);
    expect(await call.now()).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    expect(rig.told('acquired')).toHaveLength(0);
  });

  it('a grant that came while the event loop stood still is as old as its request, and is not handed out but undone', async () => {
    const rig = new LeaseRig();
    const { acquire } = rig.store;
    rig.store.acquire = async (request) => {
      const reply = await acquire.call(rig.store, request);
      const [mono, wall] = [rig.clock.monotonic() + 1500, rig.clock.wall() + 1500];
      // The clock goes on, and no timer has fired yet.
      rig.clock.monotonic = () => mono;
      rig.clock.wall = () => wall;
      return reply;
    };
    await expect(rig.acquire('k', { ttl: '2s' })).rejects.toMatchObject({
      code: 'LEASE_UNAVAILABLE',
      message: expect.stringContaining('most of the ttl'),
    });
    expect(rig.told('acquired')).toEqual([]);
    expect(await rig.store.inspect('k')).toBeUndefined();
  });

  it('a retry within the wait gets the same grant: one token, one release frees it (redisson#4822)', async () => {
    const rig = new LeaseRig();
    rig.faulty.dropReply('acquire', 2);
    const call = rig.acquire('k', { ttl: '5s', wait: '10s' });
    await rig.clock.advanceAsync(8000);
    const lease = await call;
    const record = await rig.engine.inspect('k');
    expect(record?.fencingToken).toBe(lease.fencingToken);
    expect(await lease.release()).toBe(true);
    await rig.clock.settle();
    expect(await rig.engine.inspect('k')).toBeUndefined();
  });

  it('a try that is carried out after the release leaves no ghost behind', async () => {
    const rig = new LeaseRig();
    rig.faulty.delay('acquire', 2500);
    const call = rig.acquire('k', { ttl: '5s', wait: '10s' });
    await rig.clock.advanceAsync(1500);
    const lease = await call;
    await lease.release();
    await rig.clock.advanceAsync(1500);
    expect(await rig.engine.inspect('k')).toBeUndefined();
  });

  it('thousands of them leave neither timers nor a storm of requests', async () => {
    const rig = new LeaseRig();
    rig.faulty.dropRequest('acquire', Infinity).fail('leave', new Error('down'), Infinity);
    const calls = Array.from({ length: 3000 }, (_, i) => rig.acquire(`k${String(i)}`, { ttl: '5s' }).catch(() => 'failed'));
    await rig.clock.advanceAsync(1000);
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['failed']));
    await rig.clock.advanceAsync(2000);
    expect(rig.faulty.calls('leave').length).toBeLessThan(300);
    await rig.clock.advanceAsync(10_000);
    expect(rig.engine.undoer.size).toBe(0);
    expect(rig.clock.pendingTimers).toBe(0);
  });
});

describe('fencing tokens of one process', () => {
  it('stay increasing when the store has forgotten them and its clock went back, as far as this process saw them', async () => {
    const rig = new LeaseRig();
    const first = await rig.acquire('k', { ttl: '10s' });
    await rig.lose('k');
    forget(rig);
    const second = await rig.acquire('k', { ttl: '10s' });
    expect(second.fencingToken).toBe(first.fencingToken + 1);
  });

  it.each([
    ['inspected', (rig: LeaseRig) => rig.engine.inspect('k')],
    ['ended by force', (rig: LeaseRig) => rig.engine.forceRelease('k')],
    ['found busy', (rig: LeaseRig) => rig.tryAcquire('k')],
  ])('stay above that of a lease of another process that this one has %s', async (_, look) => {
    const rig = new LeaseRig();
    const theirs = await rig.rival().acquire('k');
    await look(rig);
    forget(rig);
    expect((await rig.acquire('k')).fencingToken).toBe(theirs.fencingToken + 1);
  });

  it('stay above that of a lease which was held while thousands of others came and went', async () => {
    const rig = new LeaseRig();
    const held = await rig.acquire('k', { ttl: '1h' });
    for (let i = 0; i < 10_001; i++) await (await rig.acquire(`other:${String(i)}`)).release();
    await held.release();
    forget(rig);
    expect((await rig.acquire('k')).fencingToken).toBe(held.fencingToken + 1);
  });

  it('minToken: the token granted is higher; one that would poison the key is refused by name', async () => {
    const rig = new LeaseRig();
    const seen = (await rig.acquire('a')).fencingToken;
    const lease = await rig.acquire('b', { minToken: seen + 5_000_000 });
    expect(lease.fencingToken).toBe(seen + 5_000_001);
    await expect(rig.acquire('c', { minToken: Number.MAX_SAFE_INTEGER })).rejects.toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      option: 'minToken',
    });
  });

  it('tells when the clock of the store went back', async () => {
    const rig = new LeaseRig();
    await rig.acquire('a', { ttl: '1m' });
    await rig.clock.advanceAsync(10_000);
    expect(rig.told('server-clock-back')).toHaveLength(0);
    rig.clock.stepWall(-3_600_000);
    await rig.clock.advanceAsync(30_000);
    expect(rig.told('server-clock-back')).toEqual([{ type: 'server-clock-back', byMs: 3_600_000 }]);
  });
});

describe('release', () => {
  it('is true for the call that freed it and false for every other', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k');
    expect(await Promise.all([lease.release(), lease.release()])).toEqual([true, false]);
    expect(await lease.release()).toBe(false);
    expect(rig.told('released')).toHaveLength(1);
  });

  it('returns within a second when the store is away, warns once and goes on in the background', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '30s' });
    rig.faulty.dropRequest('release').dropRequest('leave', 2);
    const released = watch(lease.release());
    await rig.clock.advanceAsync(1000);
    expect(await released.now()).toBe(false);
    expect(rig.told('release-failed')).toHaveLength(1);
    await rig.clock.advanceAsync(20_000);
    expect(await rig.engine.inspect('k')).toBeUndefined();
    expect(rig.told('release-failed')).toHaveLength(1);
  });

  it('applied without a reply, retried when a rival has it: the rival keeps it', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k', { ttl: '30s' });
    rig.faulty.dropReply('release');
    const released = lease.release();
    await rig.clock.settle();
    const rival = await rig.rival().acquire('k');
    await rig.clock.advanceAsync(5000);
    await released;
    expect(() => rival.assertHeld()).not.toThrow();
    expect((await rig.engine.inspect('k'))?.fencingToken).toBe(rival.fencingToken);
  });

  it('says so once when the key was gone at the release (node-redlock#153)', async () => {
    const rig = new LeaseRig();
    const lease = await rig.acquire('k');
    await rig.lose('k');
    expect(await lease.release()).toBe(false);
    expect(await lease.release()).toBe(false);
    expect(rig.told('release-failed')).toHaveLength(1);
  });

  it('races a renewal in every order and brings nothing back', async () => {
    for (const fault of ['delay', 'delayReply', 'none'] as const) {
      for (const renewFirst of [true, false]) {
        const rig = new LeaseRig();
        const lease = await rig.acquire('k', { ttl: '1s' });
        if (fault !== 'none') rig.faulty[fault]('renew', 80);
        const steps = [() => lease.renew().catch(() => undefined), () => lease.release()];
        const done = Promise.all((renewFirst ? steps : steps.reverse()).map((step) => step()));
        await rig.clock.advanceAsync(5000);
        await done;
        expect(await rig.engine.inspect('k')).toBeUndefined();
        expect(rig.renewals).toBeLessThanOrEqual(1);
      }
    }
  });
});

/** The store has lost all it knew, and its clock has gone back. */
function forget(rig: LeaseRig): void {
  const engine = rig.engine as unknown as { store: unknown };
  engine.store = new LeaseRig(rig.clock).store;
  rig.clock.stepWall(-3_600_000);
}
