import { describe, expect, it } from '@jest/globals';
import { errorOf, granted, QuorumRig } from './rig.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const limits = { longestTtl: '1m', fenceRetention: '24h' };

describe('a node that has forgotten', () => {
  it('does not vote while somebody may hold a lease that it forgot: one that restarts while A is valid on it and one other', async () => {
    const rig = new QuorumRig(3, limits);
    rig.nodes[2]!.faulty.dropRequest('acquire');
    const a = await rig.take('job');
    expect(await rig.holders('job')).toEqual([a.holderTag, a.holderTag, undefined]);
    rig.nodes[1]!.restart(1000);
    const error = await errorOf(rig.passing(rig.another().acquire(rig.ask('job'))).then((reply) => Promise.reject(new Error(reply.kind))));
    // A holds one node, so others are told that it is busy rather than that nobody can be asked.
    expect(error.message).toBe('busy');
    expect(await rig.holders('job')).toEqual([a.holderTag, undefined, undefined]);
  });

  it('says for how long it does not vote', async () => {
    const rig = new QuorumRig(3, limits);
    rig.nodes[0]!.restart(20_000);
    rig.nodes[1]!.restart(30_000);
    const error = await errorOf(rig.passing(rig.store.acquire(rig.ask())));
    expect(error).toMatchObject({ kind: 'transient', retryAfterMs: 30_000 });
    expect(error.message).toContain(
      'node 1: it does not vote for another 40 s: it started a short while ago and may have forgotten leases',
    );
    rig.nodes[1]!.remembersMs = MINUTE_MS;
    await rig.take();
  });

  it('does not vote when it would not say since when it remembers', async () => {
    const rig = new QuorumRig(3, limits);
    rig.nodes[0]!.remembersMs = undefined;
    await rig.take();
    rig.nodes[1]!.remembersMs = undefined;
    const error = await errorOf(rig.passing(rig.store.acquire(rig.ask())));
    expect(error).toMatchObject({ kind: 'fatal', message: expect.stringContaining('node 2: it does not vote, since it refuses INFO') });
  });

  it('does not vote before it has learned: one of three restarts empty between A and B, and no token is repeated', async () => {
    const rig = new QuorumRig(3, limits);
    // The clocks of the servers do not help: A has a token from an hour ahead.
    const a = await rig.take('job', { floor: (rig.clock.wall() + HOUR_MS) * 1000 });
    rig.nodes[2]!.restart(Infinity);
    await rig.store.release(a);
    rig.nodes[1]!.restart(2 * MINUTE_MS);
    const B = rig.another();
    // Node 2 has forgotten, node 3 never knew. Without node 1, which knows, they elect nobody.
    rig.nodes[0]!.faulty.fail('acquire', new Error('reset'), Infinity).fail('recall', new Error('reset'), Infinity);
    const error = await errorOf(rig.passing(B.acquire(rig.ask('job'))));
    expect(error.message).toContain('node 2: it may have forgotten fencing tokens when it started');
    // It need not vote: it is enough that it says which tokens it remembers.
    rig.nodes[0]!.faulty.heal('recall');
    const b = granted(await rig.passing(B.acquire(rig.ask('job'))));
    expect(b.fencingToken).toBeGreaterThan(a.fencingToken);
    for (const node of rig.nodes.slice(1)) expect(await node.tokenOf('job')).toBe(b.fencingToken);
  });

  it('counts like any other once it has been up for as long as tokens are remembered', async () => {
    const rig = new QuorumRig(3, limits);
    rig.nodes[1]!.restart(24 * HOUR_MS);
    rig.nodes[0]!.hang();
    await rig.take();
  });

  it('is of use where the other two remember: their tokens are known by their own votes', async () => {
    const rig = new QuorumRig(3, limits);
    rig.nodes[1]!.restart(2 * MINUTE_MS);
    const held = await rig.take();
    expect(rig.nodes[0]!.faulty.calls('recall')).toEqual([]);
    expect(await rig.holders(held.key)).toEqual(Array(3).fill(held.holderTag));
  });

  it('keeps no fleet from starting: where most have forgotten the clocks keep tokens in order', async () => {
    const rig = new QuorumRig(3, limits);
    const a = await rig.take('job');
    await rig.store.release(a);
    for (const node of rig.nodes) node.restart(MINUTE_MS);
    rig.nodes[0]!.hang();
    await rig.clock.advanceAsync(MINUTE_MS);
    expect((await rig.take('job')).fencingToken).toBeGreaterThan(a.fencingToken);
  });

  it('that keeps everything through a restart is never kept waiting', async () => {
    const rig = new QuorumRig(3, limits);
    for (const node of rig.nodes) node.remembersMs = Infinity;
    await rig.take();
  });

  it('is not asked where nodes are said not to forget', async () => {
    const rig = new QuorumRig(3, { nodesForget: false });
    for (const node of rig.nodes) node.restart(0);
    await rig.take('job', { ttlMs: 24 * HOUR_MS });
    expect(rig.nodes[0]!.faulty.calls('confirm')[0]).toMatchObject({ memory: false });
  });

  it('makes a ttl that is longer than longestTtl an error, since nobody would wait for it', async () => {
    const rig = new QuorumRig(3, limits);
    const error = await errorOf(rig.store.acquire(rig.ask('long', { ttlMs: MINUTE_MS + 1 })));
    expect(error).toMatchObject({ kind: 'fatal', message: expect.stringContaining('longer than "longestTtl"') });
    const held = await rig.take('long', { ttlMs: MINUTE_MS });
    expect(rig.nodes[0]!.faulty.calls('acquire')).toHaveLength(1);
    const results = await rig.store.renew([{ ...held, ttlMs: MINUTE_MS + 1 }, held]);
    expect(results).toEqual([{ kind: 'unknown', error: expect.objectContaining({ kind: 'fatal' }) }, { kind: 'held' }]);
    expect((await rig.store.inspect('long'))?.remainingMs).toBe(MINUTE_MS);
  });
});

describe('the 13 steps in which a token is written back to a node that somebody else holds', () => {
  it('end with the token refused there', async () => {
    const rig = new QuorumRig(3, {}, [0, 3_600_000, 0]);
    // A is granted all three, and its lease at node 3 is lost before the token is confirmed.
    for (const node of rig.nodes) node.faulty.delay('confirm', 100);
    const asked = rig.ask('job');
    const a = rig.store.acquire(asked);
    await rig.clock.advanceAsync(50);
    await rig.nodes[2]!.inner.forceRelease('job');
    const other = rig.ask('job');
    const ownOfB = granted(await rig.nodes[2]!.inner.acquire(other)).fencingToken;
    const token = granted(await rig.passing(a)).fencingToken;
    await rig.clock.advanceAsync(100);
    expect(token).toBeGreaterThan(ownOfB);
    expect(await rig.nodes[2]!.tokenOf('job')).toBe(ownOfB);
    await rig.store.release({ ...asked, fencingToken: token });
    // B takes another node, and cannot have a majority without one that knows A's token.
    const b = granted(await rig.passing(rig.another().acquire(other)));
    expect(b.fencingToken).toBeGreaterThan(token);
  });
});
