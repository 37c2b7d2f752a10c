import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Lease } from '../../../lib/lease/lease.js';
import { rejection } from '../../support/attack-rig.js';
import { Auditor } from '../../support/auditor.js';
import { fastClock, findFaketime } from '../../chaos/cron/faketime.js';
import { command } from '../../support/topologies/command.js';
import { SentinelGroup } from '../../support/topologies/sentinel-group.js';
import { startHolder, type Holder } from '../../support/holder.js';
import { Services } from '../../support/topologies/services.js';

jest.setTimeout(90_000);

describe('two primaries, one after the other or at once', () => {
  const services = new Services();
  let group: SentinelGroup;
  let auditor: Auditor;
  beforeAll(async () => {
    [group, auditor] = await Promise.all([SentinelGroup.start(), Auditor.start()]);
  });
  afterAll(async () => {
    await group?.stop();
    await auditor?.stop();
  });
  const write = (resource: string, by: Lease): boolean =>
    auditor.ask({ op: 'write', resource, token: by.fencingToken, holder: by.holderTag }).accepted;

  it('a replica that missed the last acquire is promoted: that holder is lost at its next renewal, and the next token is higher (infrahub#9450, node-redlock#16, redbeat#163)', async () => {
    await group.settle();
    const [a, b] = [services.start(group.connection), services.start(group.connection)];
    const key = services.key();
    await (await a.service.acquire(key, { ttl: 12 })).release();
    await group.inStep();
    const old = await group.primary();
    await group.freezeReplicas();
    const lease = await a.service.acquire(key, { ttl: 12 });
    await old.kill();
    group.thawReplicas();
    await group.promoted(old);
    const next = await b.service.acquire(key, { ttl: 12, wait: 10 });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(write(key, next)).toBe(true);
    const { reason } = await lease.lost;
    expect(reason).toBe('taken');
    expect(write(key, lease)).toBe(false);
    next.assertHeld();
    await old.restart();
  });

  it('the old primary is cut off with a holder, the new one serves another, then it heals: tokens differ, the lower is refused, the row is never interleaved', async () => {
    await group.settle();
    const old = await group.primary();
    const [a, late, b] = [services.start(old.url), services.start(old.url), services.start(group.connection)];
    const [early, crossed] = [services.key(), services.key()];
    group.isolate(old);
    // Redis refuses nothing here: it does not know that it is alone.
    const first = await a.service.acquire(early, { ttl: 15 });
    await group.promoted(old);
    const second = await b.service.acquire(early, { ttl: 15, wait: 10 });
    // And the other way round: who comes later at the old primary gets the higher token, and is the one that the row takes.
    const other = await b.service.acquire(crossed, { ttl: 15 });
    const third = await late.service.acquire(crossed, { ttl: 15 });
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
    expect(third.fencingToken).toBeGreaterThan(other.fencingToken);
    const refused = [write(early, first), write(early, second), write(early, first), write(early, second)];
    expect(refused).toEqual([true, true, false, true]);
    expect([write(crossed, other), write(crossed, third), write(crossed, other)]).toEqual([true, true, false]);
    for (const resource of [early, crossed]) {
      const tokens = auditor.of(resource).flatMap(({ accepted, token }) => (accepted ? [token] : []));
      expect(tokens).toEqual([...tokens].sort((x, y) => x - y));
    }
    group.rejoin(old);
    await group.settle();
    // Their primary is a replica now: it shows the lease of the other, and takes no writes.
    for (const lease of [first, third]) expect(['taken', 'store', 'expired']).toContain((await lease.lost).reason);
    for (const lease of [second, other]) lease.assertHeld();
    const another = await rejection(a.service.acquire(services.key()));
    expect(another).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    expect(String(another.message)).toContain('READONLY');
    expect(await second.release()).toBe(true);
  });

  it('with min-replicas-to-write a primary that is cut off grants and renews nothing: its holder stops, and there is one holder', async () => {
    await group.settle();
    const old = await group.primary();
    await command(old, 'CONFIG', 'SET', 'min-replicas-to-write', '1', 'min-replicas-max-lag', '1');
    const [a, b] = [services.start(old.url), services.start(group.connection)];
    const key = services.key();
    const lease = await a.service.acquire(key, { ttl: 8 });
    await group.inStep();
    let stoppedAt = Infinity;
    lease.signal.addEventListener('abort', () => (stoppedAt = performance.now()));
    group.isolate(old);
    await group.promoted(old);
    const next = await b.service.acquire(key, { ttl: 8, wait: 20 });
    expect(performance.now()).toBeGreaterThan(stoppedAt);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'store' });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect((await rejection(a.service.acquire(services.key()))).message).toContain('NOREPLICAS');
    expect(await next.release()).toBe(true);
    await command(old, 'CONFIG', 'SET', 'min-replicas-to-write', '0');
    group.rejoin(old);
    await group.settle();
  });
});

it('the new primary’s clock is 5 s behind and it missed the last acquire: higher where the token is known; else the row refuses, and minToken mends it', async () => {
  const library = findFaketime();
  if (library === undefined) throw new Error('libfaketime is missing: install the package faketime.');
  const group = await SentinelGroup.start({ replicas: 1, replicaEnv: slowClock(library, 5) });
  const auditor = await Auditor.start();
  const holders = [group.connection, group.connection, group.connection].map((connection) => startHolder({ connection }));
  const [a, b, knowing] = holders as [Holder, Holder, Holder];
  const write = (by: Lease): boolean =>
    auditor.ask({ op: 'write', resource: 'row', token: by.fencingToken, holder: by.holderTag }).accepted;
  try {
    // Nothing of this key has ever reached the replica.
    await group.freezeReplicas();
    const old = await group.primary();
    const lease = await a.service.acquire('row', { ttl: 20 });
    expect(await knowing.service.tryAcquire('row')).toBeUndefined();
    expect(write(lease)).toBe(true);
    await old.kill();
    group.thawReplicas();
    await group.promoted(old);
    const behind = await b.service.acquire('row', { wait: 10 });
    // The clock cannot know it, and neither can this process: the one case in which the row must refuse the newer one.
    expect(behind.fencingToken).toBeLessThan(lease.fencingToken);
    expect(write(behind)).toBe(false);
    await behind.release();
    const mended = await b.service.acquire('row', { minToken: lease.fencingToken });
    expect(mended.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(write(mended)).toBe(true);
    await mended.release();
    // One that has seen the token of the old holder gives a higher one by itself, though the fence is gone once more.
    await command(await group.primary(), 'FLUSHALL');
    const known = await knowing.service.acquire('row', { wait: 10 });
    expect(known.fencingToken).toBeGreaterThan(lease.fencingToken);
  } finally {
    await Promise.all(holders.map((holder) => holder.close()));
    await group.stop();
    await auditor.stop();
  }
});

/** The environment of a process whose clock is so many seconds behind. */
function slowClock(library: string, seconds: number): Record<string, string> {
  return { ...fastClock(library, 1), FAKETIME: `-${String(seconds)}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}
