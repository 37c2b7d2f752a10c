import { describe, expect, it } from '@jest/globals';
import { StoreError } from '../../../../lib/stores/lease-store.js';
import { Round } from '../../../../lib/stores/quorum/round.js';
import { errorOf, granted, QuorumRig } from './rig.js';

describe('a quorum whose nodes fail', () => {
  it.each([
    [3, 1],
    [4, 1],
    [5, 2],
  ])('of %d goes on without %d of them', async (size, down) => {
    const rig = new QuorumRig(size);
    for (const node of rig.nodes.slice(0, down)) node.hang();
    const held = await rig.take();
    expect((await rig.passing(rig.store.renew([held])))[0]).toEqual({ kind: 'held' });
    expect(await rig.passing(rig.store.inspect(held.key))).toMatchObject({ holderTag: held.holderTag, fencingToken: held.fencingToken });
    expect(await rig.passing(rig.store.acquire(rig.ask(held.key)))).toMatchObject({ kind: 'busy', holderTag: held.holderTag });
    expect(await rig.passing(rig.store.release(held))).toEqual({ kind: 'released' });
    expect((await rig.take(held.key)).fencingToken).toBeGreaterThan(held.fencingToken);
  });

  it.each([
    [3, 2],
    [4, 2],
    [5, 3],
  ])('of %d says which it misses when %d of them do not answer', async (size, down) => {
    const rig = new QuorumRig(size);
    const held = await rig.take();
    for (const node of rig.nodes.slice(0, down)) node.hang();
    const error = await errorOf(rig.passing(rig.store.acquire(rig.ask())));
    expect(error).toMatchObject({ name: 'StoreError', kind: 'transient' });
    expect(error.message).toMatch(/no majority \(\d of \d\) .* node 1: it did not answer within 1000 ms; node 2: /);
    expect((await rig.passing(rig.store.renew([held])))[0]?.kind).toBe('unknown');
    const calls: Promise<unknown>[] = [
      rig.store.inspect(held.key),
      rig.store.release(held),
      rig.store.forceRelease(held.key),
      rig.store.ping(),
    ];
    for (const call of calls) expect((await errorOf(rig.passing(call))).kind).toBe('transient');
  });

  it('tells unavailable from busy when the one node that answers says busy', async () => {
    const rig = new QuorumRig();
    const held = await rig.take();
    rig.nodes[1]!.hang();
    rig.nodes[2]!.hang();
    expect(await errorOf(rig.passing(rig.store.acquire(rig.ask(held.key))))).toMatchObject({ kind: 'transient' });
  });

  it('says what all nodes that fail agree on', async () => {
    const rig = new QuorumRig();
    for (const node of rig.nodes.slice(1))
      node.faulty.fail('acquire', new StoreError('fatal', 'Redis refuses to be asked: NOPERM'), Infinity);
    expect(await errorOf(rig.passing(rig.store.acquire(rig.ask())))).toMatchObject({
      kind: 'fatal',
      message: expect.stringContaining('NOPERM'),
    });
  });

  it('waits a moment for a node that does not answer, and not again as long as it does not', async () => {
    const rig = new QuorumRig();
    rig.nodes[2]!.hang();
    expect(await rig.timeOf(rig.store.acquire(rig.ask()))).toBeLessThanOrEqual(50);
    await rig.clock.advanceAsync(1000);
    expect(await rig.timeOf(rig.store.acquire(rig.ask()))).toBe(0);
  });

  it('gives up as soon as a majority can no longer be had', async () => {
    const rig = new QuorumRig(5);
    const held = await rig.take();
    for (const node of rig.nodes.slice(0, 3)) node.faulty.delayReply('acquire', 500);
    const asked = rig.store.acquire(rig.ask(held.key));
    await rig.clock.advanceAsync(499);
    rig.nodes[0]!.faulty.heal();
    expect(await rig.timeOf(asked)).toBeLessThan(10);
  });

  it('has time limits that leave a short lease most of its ttl', async () => {
    const rig = new QuorumRig();
    for (const node of rig.nodes) node.hang();
    expect(await rig.timeOf(rig.store.acquire(rig.ask('short', { ttlMs: 1200 })).catch(() => undefined))).toBeLessThanOrEqual(200);
  });

  it('holds the lease on every node that answers in time', async () => {
    const rig = new QuorumRig(5);
    rig.nodes[4]!.faulty.delay('acquire', 20);
    const held = await rig.take();
    await rig.clock.settle();
    expect(await rig.holders(held.key)).toEqual(Array(5).fill(held.holderTag));
    for (const node of rig.nodes) expect(await node.tokenOf(held.key)).toBe(held.fencingToken);
  });

  it('is told by a node that lost the lease at the next renewal, and is content with the others', async () => {
    const rig = new QuorumRig(5);
    const held = await rig.take();
    for (const node of rig.nodes.slice(0, 2)) await node.inner.forceRelease(held.key);
    expect((await rig.store.renew([held]))[0]?.kind).toBe('held');
    await rig.nodes[2]!.inner.forceRelease(held.key);
    expect((await rig.store.renew([held]))[0]?.kind).toBe('gone');
    expect(await rig.holders(held.key)).toEqual([undefined, undefined, undefined, held.holderTag, held.holderTag]);
  });

  it('never creates a lease again where a node has lost it', async () => {
    const rig = new QuorumRig();
    const held = await rig.take();
    rig.nodes[0]!.restart(Infinity);
    await rig.store.renew([held]);
    expect(await rig.holders(held.key)).toEqual([undefined, held.holderTag, held.holderTag]);
  });
});

describe('late answers of a node', () => {
  it('are taken back when the lease was not had', async () => {
    const rig = new QuorumRig();
    rig.nodes[0]!.faulty.fail('acquire', new StoreError('transient', 'reset'));
    rig.nodes[1]!.faulty.fail('acquire', new StoreError('transient', 'reset'));
    rig.nodes[2]!.faulty.delay('acquire', 3000);
    const request = rig.ask();
    await errorOf(rig.passing(rig.store.acquire(request)));
    await rig.clock.advanceAsync(3000);
    expect(rig.nodes[2]!.faulty.calls('acquire')).toHaveLength(1);
    expect(await rig.holders(request.key)).toEqual([undefined, undefined, undefined]);
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it('are taken back though they never come: what was done is undone', async () => {
    const rig = new QuorumRig();
    rig.nodes[0]!.faulty.dropReply('acquire');
    rig.nodes[1]!.faulty.fail('acquire', new StoreError('transient', 'reset'));
    rig.nodes[2]!.faulty.fail('acquire', new StoreError('transient', 'reset'));
    const request = rig.ask();
    await errorOf(rig.passing(rig.store.acquire(request)));
    expect(await rig.nodes[0]!.holderOf(request.key)).toBe(request.holderTag);
    await rig.clock.advanceAsync(1000);
    expect(await rig.holders(request.key)).toEqual([undefined, undefined, undefined]);
    await rig.clock.advanceAsync(31_000);
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it('that tell that the request never left end the taking back', async () => {
    const rig = new QuorumRig();
    rig.nodes[0]!.faulty.fail('acquire', new StoreError('transient', 'reset'));
    rig.nodes[1]!.faulty.fail('acquire', new StoreError('transient', 'reset'));
    const never = new Promise<never>((_, reject) => {
      rig.clock.setTimer(() => reject(new StoreError('transient', 'it cannot be reached', { notSent: true })), 1500);
    });
    rig.nodes[2]!.inner.acquire = () => never;
    rig.nodes[2]!.faulty.fail('leave', new StoreError('transient', 'reset'), Infinity);
    await errorOf(rig.passing(rig.store.acquire(rig.ask())));
    await rig.clock.advanceAsync(2000);
    const tries = rig.nodes[2]!.faulty.calls('leave').length;
    expect(tries).toBeGreaterThan(0);
    await rig.clock.advanceAsync(10_000);
    expect(rig.nodes[2]!.faulty.calls('leave')).toHaveLength(tries);
  });

  it('join the lease when their token is not above its own', async () => {
    const rig = new QuorumRig(3, {}, [0, 0, -5000]);
    rig.nodes[2]!.faulty.delayReply('acquire', 400);
    const held = await rig.take();
    expect(await rig.nodes[2]!.tokenOf(held.key)).toBeLessThan(held.fencingToken);
    await rig.clock.advanceAsync(400);
    expect(await rig.nodes[2]!.tokenOf(held.key)).toBe(held.fencingToken);
    await rig.nodes[0]!.inner.forceRelease(held.key);
    expect((await rig.store.renew([held]))[0]?.kind).toBe('held');
  });

  it('with a higher token do not count, for renewals neither, and are given back', async () => {
    const rig = new QuorumRig(3, {}, [0, 0, 5000]);
    rig.nodes[2]!.faulty.delay('acquire', 400);
    const held = await rig.take();
    await rig.clock.advanceAsync(399 - rig.clock.monotonic());
    await rig.nodes[0]!.inner.forceRelease(held.key);
    // It is granted there, and a renewal meets it before it is given back.
    rig.nodes[2]!.faulty.delay('leave', 100);
    await rig.clock.advanceAsync(1);
    expect(await rig.nodes[2]!.holderOf(held.key)).toBe(held.holderTag);
    expect((await rig.store.renew([held]))[0]?.kind).toBe('gone');
    await rig.clock.advanceAsync(100);
    expect(await rig.nodes[2]!.holderOf(held.key)).toBeUndefined();
  });

  it('with a higher token are given back, too, when they come before the others have confirmed', async () => {
    const rig = new QuorumRig(3, {}, [0, 0, 5000]);
    rig.nodes[2]!.faulty.delay('acquire', 60);
    for (const node of rig.nodes.slice(0, 2)) node.faulty.delay('confirm', 100);
    const held = await rig.take();
    expect(rig.clock.monotonic()).toBeGreaterThan(100);
    expect(held.fencingToken).toBeLessThan((rig.clock.wall() + 4000) * 1000);
    await rig.clock.advanceAsync(1);
    expect(await rig.holders(held.key)).toEqual([held.holderTag, held.holderTag, undefined]);
  });

  it('raise the token when there is no majority without them', async () => {
    const rig = new QuorumRig(3, {}, [0, 0, 5000]);
    rig.nodes[2]!.faulty.delay('acquire', 100);
    rig.nodes[1]!.faulty.fail('confirm', new StoreError('transient', 'reset'));
    const held = await rig.take();
    expect(await rig.nodes[0]!.tokenOf(held.key)).toBe(held.fencingToken);
    expect(await rig.nodes[2]!.tokenOf(held.key)).toBe(held.fencingToken);
    expect(held.fencingToken).toBeGreaterThan((rig.clock.wall() + 4000) * 1000);
  });

  it('of a confirmation that was lost do no harm: the next renewal raises the fence', async () => {
    const rig = new QuorumRig(3, {}, [0, 0, -5000]);
    rig.nodes[2]!.faulty.dropRequest('confirm');
    const held = await rig.take();
    expect(await rig.nodes[2]!.tokenOf(held.key)).toBeLessThan(held.fencingToken);
    await rig.store.renew([held]);
    expect(await rig.nodes[2]!.tokenOf(held.key)).toBe(held.fencingToken);
  });
});

describe('a split vote', () => {
  it('is tried again at once: one that finds the nodes divided gets the lease when the other gives way', async () => {
    const rig = new QuorumRig(4);
    const other = rig.ask('tie');
    for (const node of rig.nodes.slice(2)) await node.inner.acquire(other);
    const asked = rig.store.acquire(rig.ask('tie'));
    await rig.clock.settle();
    // What it had it has given back, in case the other does not give way.
    expect(await rig.holders('tie')).toEqual([undefined, undefined, other.holderTag, other.holderTag]);
    for (const node of rig.nodes.slice(2)) await node.inner.leave(other);
    expect(await rig.passing(asked)).toMatchObject({ kind: 'granted' });
  });

  it('is not tried again for one who has left meanwhile', async () => {
    const rig = new QuorumRig(4);
    const other = rig.ask('tie');
    for (const node of rig.nodes.slice(2)) await node.inner.acquire(other);
    const request = rig.ask('tie');
    const asked = rig.store.acquire(request);
    await rig.clock.settle();
    await rig.store.leave(request);
    for (const node of rig.nodes.slice(2)) await node.inner.leave(other);
    expect((await errorOf(rig.passing(asked))).message).toBe('the try was given up');
    expect(await rig.holders('tie')).toEqual(Array(4).fill(undefined));
  });

  it('leaves nothing behind with those who lost', async () => {
    const rig = new QuorumRig(4);
    rig.nodes[0]!.faulty.delay('acquire', 1, Infinity);
    rig.nodes[1]!.faulty.delay('acquire', 1, Infinity);
    const many = Array.from({ length: 8 }, () => rig.ask('many'));
    const replies = await rig.passing(Promise.all(many.map((request, i) => (i % 2 ? rig.store : rig.another()).acquire(request))));
    await rig.clock.advanceAsync(1000);
    const winners = many.filter((_, i) => replies[i]!.kind === 'granted').map(({ holderTag }) => holderTag);
    expect(winners.length).toBeLessThanOrEqual(1);
    expect(new Set(await rig.holders('many'))).toEqual(new Set([winners[0]]));
  });

  it('tells those who lost to come back soon, and those whom a holder refuses when he may be gone', async () => {
    const rig = new QuorumRig();
    const held = await rig.take();
    expect(await rig.store.acquire(rig.ask(held.key))).toMatchObject({ kind: 'busy', remainingMs: 30_000 });
    await rig.nodes[0]!.inner.acquire(rig.ask('torn'));
    await rig.nodes[1]!.inner.acquire(rig.ask('torn'));
    const torn = await rig.passing(rig.store.acquire(rig.ask('torn')));
    expect(torn).toMatchObject({ kind: 'busy' });
    expect(torn.kind === 'busy' && torn.remainingMs).toBeLessThanOrEqual(50);
  });

  it('does not let what was taken back late end the lease that the same holder got in the end', async () => {
    const rig = new QuorumRig();
    const rival = rig.ask('again');
    await rig.nodes[1]!.inner.acquire(rival);
    await rig.nodes[2]!.inner.acquire(rival);
    const request = rig.ask('again');
    // It is granted by one node and takes that back; the request to do so is on its way for a long time.
    rig.nodes[0]!.faulty.delay('leave', 5000);
    expect(await rig.passing(rig.store.acquire(request))).toMatchObject({ kind: 'busy' });
    for (const node of rig.nodes.slice(1)) await node.inner.leave(rival);
    await rig.nodes[0]!.inner.forceRelease('again');
    const reply = granted(await rig.passing(rig.store.acquire(request)));
    await rig.clock.advanceAsync(6000);
    expect(await rig.holders('again')).toEqual(Array(3).fill(request.holderTag));
    expect((await rig.store.renew([{ ...request, fencingToken: reply.fencingToken }]))[0]?.kind).toBe('held');
    expect(await rig.store.release({ ...request, fencingToken: reply.fencingToken })).toEqual({ kind: 'released' });
    expect(await rig.holders('again')).toEqual([undefined, undefined, undefined]);
  });
});

describe('one holder', () => {
  it('that asks again while the first try runs gets the same lease, for as long as that will live', async () => {
    const rig = new QuorumRig();
    for (const node of rig.nodes) node.faulty.delayReply('acquire', 300);
    const request = rig.ask();
    const first = rig.store.acquire(request);
    await rig.clock.advanceAsync(200);
    const second = rig.store.acquire(request);
    const [one, other] = await rig.passing(Promise.all([first, second]));
    expect(one).toMatchObject({ kind: 'granted', ttlMs: 30_000 });
    expect(other).toEqual({ ...one, ttlMs: 29_800 });
    expect(rig.nodes[0]!.faulty.calls('acquire')).toHaveLength(1);
  });

  it('that leaves while its try runs holds nothing afterwards', async () => {
    const rig = new QuorumRig();
    for (const node of rig.nodes) node.faulty.delayReply('acquire', 300);
    const request = rig.ask();
    const tried = rig.store.acquire(request);
    const left = rig.store.leave(request);
    expect(await errorOf(rig.passing(tried))).toMatchObject({ kind: 'transient' });
    await rig.passing(left);
    await rig.clock.advanceAsync(2000);
    expect(await rig.holders(request.key)).toEqual([undefined, undefined, undefined]);
  });

  it('whose answers took the whole ttl has no lease, whatever the time limits', async () => {
    const rig = new QuorumRig(3, { nodeTimeout: '5s' });
    for (const node of rig.nodes) node.faulty.delayReply('acquire', 99);
    const round = new Round(
      { links: rig.store['links'], clock: rig.clock, memoryLimits: undefined },
      rig.ask('late', { ttlMs: 100 }),
      Infinity,
    );
    expect(await rig.passing(round.run())).toMatchObject({ kind: 'transient', message: expect.stringContaining('took the whole ttl') });
    await rig.clock.settle();
    expect(await rig.holders('late')).toEqual([undefined, undefined, undefined]);
  });

  it('that releases while a node is away frees it there as soon as it is back', async () => {
    const rig = new QuorumRig();
    const held = await rig.take();
    rig.nodes[2]!.faulty.fail('release', new StoreError('transient', 'gone')).fail('leave', new StoreError('transient', 'gone'), 3);
    expect(await rig.store.release(held)).toEqual({ kind: 'released' });
    expect(await rig.holders(held.key)).toEqual([undefined, undefined, held.holderTag]);
    await rig.clock.advanceAsync(3000);
    expect(await rig.holders(held.key)).toEqual([undefined, undefined, undefined]);
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it('leaves no timers and no memory behind', async () => {
    const rig = new QuorumRig();
    for (let i = 0; i < 50; i++) {
      const held = await rig.take();
      await rig.store.acquire(rig.ask(held.key));
      await rig.store.release(held);
    }
    await rig.clock.settle();
    expect(rig.clock.pendingTimers).toBe(0);
    expect(rig.store['book'].size).toBe(0);
  });
});
