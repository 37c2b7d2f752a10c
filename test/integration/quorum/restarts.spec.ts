import { describe, expect, it } from '@jest/globals';
import type { StoreError } from '../../../lib/stores/lease-store.js';
import { waitFor } from '../../support/wait-for.js';
import { DURABLE, errorOf, FORGETFUL, NodesRig } from './rig.js';

const HOUR_MS = 3_600_000;
/** Of nodes that have just been started: those that keep nothing wait for this long. */
const limits = { longestTtl: '1s', fenceRetention: '24h' };

describe('nodes that restart', () => {
  const rig = new NodesRig([DURABLE, FORGETFUL, DURABLE]);

  it('vote at once after their start when they keep every write (appendonly, appendfsync always)', async () => {
    rig.isolate(1);
    await rig.takeAtLast(rig.quorum(limits));
  });

  it('are told apart by CONFIG: one that keeps nothing does not vote for the longest ttl, and says so', async () => {
    const store = rig.quorum({ ...limits, longestTtl: '10m' });
    rig.isolate(0);
    const error = await rig.refusal(store, /node 2 \(127\.0\.0\.1:\d+\): it does not vote for another \d+ s: it started a short while ago/);
    expect(error.kind).toBe('transient');
    expect(error.retryAfterMs).toBeGreaterThan(500_000);
  });

  it('one of three restarts empty between A and B: no repeated token, it does not vote before it has learned', async () => {
    await rig.upFor(1, 2);
    const A = rig.quorum(limits);
    const B = rig.quorum(limits);
    // Node 3 is somebody else's for a moment: it knows nothing of A, whose token no clock will pass for an hour.
    const other = await rig.take(rig.node(2), 'learn');
    const a = await rig.takeAtLast(A, 'learn', { floor: (Date.now() + HOUR_MS) * 1000 });
    expect(await rig.fenceOf(1, 'learn')).toBe(a.fencingToken);
    await A.release(a);
    await rig.node(2).release(other);
    await rig.servers[1]!.restart({ empty: true });
    rig.isolate(0);
    await rig.refusal(B, /node 2 .*does not vote for another/, 'learn');
    await rig.upFor(1, 2);
    await rig.refusal(B, /node 2 .*may have forgotten fencing tokens when it started/, 'learn');
    // Once node 1 is heard, which remembers A's token, all is well.
    rig.proxies[0]!.pass();
    const b = await rig.takeAtLast(B, 'learn');
    expect(b.fencingToken).toBeGreaterThan(a.fencingToken);
  });

  it('one restarts while A is valid on it and one other: it abstains, and B gets no majority', async () => {
    await rig.upFor(1, 2);
    const [A, B] = [rig.quorum(limits), rig.quorum(limits)];
    const other = await rig.take(rig.node(2), 'valid');
    const a = await rig.takeAtLast(A, 'valid');
    await rig.node(2).release(other);
    await rig.servers[1]!.restart({ empty: true });
    const until = Date.now() + 800;
    while (Date.now() < until) {
      const reply = await B.acquire(rig.ask('valid')).catch((error: unknown) => error as StoreError);
      expect(reply.kind).toMatch(/^(busy|transient)$/);
    }
    const b = await rig.takeAtLast(B, 'valid');
    expect(b.fencingToken).toBeGreaterThan(a.fencingToken);
    expect((await A.renew([a]))[0]?.kind).not.toBe('held');
  });

  it('a node comes back with an old lease that others have given back: it is in nobody’s way', async () => {
    const store = rig.quorum({ nodesForget: false });
    const old = await rig.takeAtLast(store, 'old', { ttlMs: 20_000 });
    await rig.servers[1]!.ask('SAVE');
    await rig.servers[1]!.kill();
    expect(await store.release(old)).toEqual({ kind: 'released' });
    await rig.servers[1]!.restart({ empty: false });
    const next = await rig.takeAtLast(rig.quorum({ nodesForget: false }), 'old');
    expect(next.fencingToken).toBeGreaterThan(old.fencingToken);
    // The release that it did not hear is told to it in the background.
    await expect(untilFree(() => rig.holderOf(1, 'old'), old.holderTag)).resolves.toBeUndefined();
  });

  it('a node that would not say since when it runs does not vote (INFO refused)', async () => {
    await rig.servers[1]!.ask('ACL', 'SETUSER', 'mute', 'on', '>pw', '~*', '&*', '+@all', '-info');
    await rig.servers[1]!.ask('ACL', 'SETUSER', 'shy', 'on', '>pw', '~*', '&*', '+@all', '-config');
    const as = (user: string): string[] => rig.urls.map((url, i) => (i === 1 ? url.replace('//', `//${user}:pw@`) : url));
    rig.isolate(2);
    await rig.refusal(rig.quorum(limits, as('mute')), /node 2 \(127\.0\.0\.1:\d+\): it does not vote, since it refuses INFO/);
    await rig.takeAtLast(rig.quorum({ nodesForget: false }, as('mute')));
    // Without CONFIG it is taken to forget, and votes when it has been up for long enough.
    await rig.upFor(1, 2);
    await rig.takeAtLast(rig.quorum({ ...limits, fenceRetention: '1s' }, as('shy')));
  });

  it('two nodes that are one server are found out (other names for it)', async () => {
    const [one, , other] = rig.servers;
    const store = rig.quorum(limits, [rig.urls[0]!, one!.url, other!.url]);
    // The first may have a majority without the twin.
    await store.acquire(rig.ask()).catch(() => undefined);
    const error = await waitFor(() => errorOf(store.acquire(rig.ask())).then((one) => one.kind === 'fatal' && one));
    expect((error as StoreError).message).toContain('are the same server');
  });
});

/** Resolves when `holder` says anybody but this one. */
async function untilFree(holder: () => Promise<string | undefined>, tag: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if ((await holder()) !== tag) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('It was never free.');
}
