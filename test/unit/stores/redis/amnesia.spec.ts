import { describe, expect, it } from '@jest/globals';
import type { StoreNotice } from '../../../../lib/stores/lease-store.js';
import { Amnesia } from '../../../../lib/stores/redis/amnesia.js';
import { Notices } from '../../../../lib/stores/redis/notices.js';
import { readServerInfo, type ServerInfo } from '../../../../lib/stores/redis/server-info.js';
import { ManualClock } from '../../../../lib/testing/manual-clock.js';

const GUARD_MS = 60_000;

function rig({ guardMs }: { guardMs: number | undefined } = { guardMs: GUARD_MS }): {
  clock: ManualClock;
  amnesia: Amnesia;
  told: StoreNotice[];
  see: (info: Partial<ServerInfo>, at?: string) => void;
} {
  const clock = new ManualClock();
  const notices = new Notices();
  const told: StoreNotice[] = [];
  notices.on((notice) => told.push(notice));
  const amnesia = new Amnesia(clock, notices, guardMs);
  const base = {
    runId: 'a',
    replicationId: 'A',
    formerReplicationId: undefined,
    uptimeMs: 3_600_000,
    isPrimary: true,
    isLoading: false,
    evictionPolicy: undefined,
  };
  return { clock, amnesia, told, see: (info, at = '') => amnesia.saw(at, 'host:1', { ...base, ...info }) };
}

describe('a server that may have forgotten leases', () => {
  it('is not one that we meet for the first time, or again', () => {
    const { amnesia, told, see } = rig();
    see({});
    amnesia.left('');
    see({ uptimeMs: 3_601_000 });
    expect(told).toEqual([]);
    expect(amnesia.refusal('')).toBeUndefined();
  });

  it('has restarted: nothing is granted until the guard after its start is over', () => {
    const { clock, amnesia, told, see } = rig();
    see({});
    amnesia.left('');
    clock.advance(20_000);
    see({ runId: 'b', replicationId: 'B', uptimeMs: 5000 });
    expect(told).toEqual([{ kind: 'amnesia', server: 'host:1', reason: 'restarted', uptimeMs: 5000, pauseMs: 56_000 }]);
    expect(amnesia.refusal('')).toMatchObject({
      kind: 'transient',
      retryAfterMs: 56_000,
      notSent: true,
      message: expect.stringContaining('56000 ms'),
    });
    clock.advance(55_999);
    expect(amnesia.refusal('')).toMatchObject({ retryAfterMs: 1 });
    clock.advance(1);
    expect(amnesia.refusal('')).toBeUndefined();
  });

  it('has an uptime in whole seconds, which may be too long by nearly one: the guard is never too short', () => {
    const { told, see } = rig();
    see({ uptimeMs: 1000 });
    expect(told).toMatchObject([{ pauseMs: GUARD_MS }]);
  });

  it('has restarted long ago, while we were away: what it forgot has run out', () => {
    const { clock, amnesia, told, see } = rig();
    see({});
    amnesia.left('');
    clock.advance(600_000);
    see({ runId: 'b', replicationId: 'B', uptimeMs: 500_000 });
    expect(told).toMatchObject([{ reason: 'restarted', pauseMs: 0 }]);
    expect(amnesia.refusal('')).toBeUndefined();
  });

  it('is a replica that was promoted: its uptime says nothing, the guard counts from now', () => {
    const { amnesia, told, see } = rig();
    see({});
    amnesia.left('');
    see({ runId: 'b', replicationId: 'B', formerReplicationId: 'A' });
    expect(told).toMatchObject([{ reason: 'promoted', pauseMs: GUARD_MS }]);
  });

  it('was a replica in between, and threw away its own data', () => {
    const { amnesia, told, see } = rig();
    see({});
    amnesia.left('');
    see({ replicationId: 'C', formerReplicationId: 'B' });
    expect(told).toMatchObject([{ reason: 'promoted', pauseMs: GUARD_MS }]);
  });

  it('a young replica that was promoted: the guard counts from now, too', () => {
    const { clock, amnesia, told, see } = rig();
    see({});
    amnesia.left('');
    clock.advance(30_000);
    see({ runId: 'b', replicationId: 'B', formerReplicationId: 'A', uptimeMs: 10_000 });
    expect(told).toMatchObject([{ pauseMs: GUARD_MS }]);
  });

  it('is another server that ran all the time', () => {
    const { amnesia, told, see } = rig();
    see({});
    amnesia.left('');
    see({ runId: 'x', replicationId: 'X' });
    expect(told).toMatchObject([{ reason: 'replaced', pauseMs: GUARD_MS }]);
  });

  it('was started shortly before our own process, which knows nothing of before', () => {
    const { told, see } = rig();
    see({ uptimeMs: 10_000 });
    expect(told).toMatchObject([{ reason: 'started', uptimeMs: 10_000, pauseMs: 51_000 }]);
  });

  it('is not a primary that begins a new history since its replicas are gone for an hour', () => {
    const { amnesia, told, see } = rig();
    see({});
    amnesia.left('');
    see({ replicationId: 'B' });
    expect(told).toEqual([]);
  });

  it('in a Cluster is each node by itself; a promoted one is known by whom it followed, a new one is not suspected', () => {
    const { amnesia, told, see } = rig();
    see({}, 'host:1');
    see({ runId: 'b', replicationId: 'B' }, 'host:2');
    see({ runId: 'new', replicationId: 'N' }, 'host:3');
    see({ runId: 'replica', replicationId: 'B', isPrimary: false }, 'host:4');
    expect(told).toEqual([]);
    see({ runId: 'replica', replicationId: 'R', formerReplicationId: 'B' }, 'host:4');
    expect(told).toMatchObject([{ reason: 'promoted' }]);
    // One that was never met before.
    see({ runId: 'other', replicationId: 'O', formerReplicationId: 'A' }, 'host:5');
    expect(told).toMatchObject([{ reason: 'promoted' }, { reason: 'promoted', pauseMs: GUARD_MS }]);
    expect(['host:1', 'host:2', 'host:3', 'host:4'].map((at) => amnesia.refusal(at) !== undefined)).toEqual([false, false, false, true]);
  });

  it('is not a replica that we reached by mistake', () => {
    const { amnesia, told, see } = rig();
    see({});
    amnesia.left('');
    see({ runId: 'r', isPrimary: false });
    amnesia.left('');
    see({});
    expect(told).toEqual([]);
  });

  it('is told without a guard, and pauses nothing', () => {
    const { amnesia, told, see } = rig({ guardMs: undefined });
    see({ uptimeMs: 0 });
    amnesia.left('');
    see({ runId: 'b', replicationId: 'B', uptimeMs: 0 });
    expect(told).toMatchObject([{ reason: 'restarted', pauseMs: 0 }]);
    amnesia.cannotSee('Redis refuses INFO');
    expect(amnesia.refusal('')).toBeUndefined();
  });

  it('of two pauses the one that ends later counts', () => {
    const { clock, amnesia, see } = rig();
    see({});
    see({ runId: 'b', replicationId: 'B', formerReplicationId: 'A' });
    amnesia.left('');
    clock.advance(50_000);
    see({ runId: 'c', replicationId: 'C', uptimeMs: 40_000 });
    expect(amnesia.refusal('')).toMatchObject({ retryAfterMs: 21_000 });
  });

  it('cannot be noticed where INFO tells nothing: with a guard nothing is granted, and the reason is said', () => {
    const { amnesia } = rig();
    amnesia.cannotSee('Redis refuses INFO (NOPERM)');
    expect(amnesia.refusal('')).toMatchObject({ kind: 'fatal', message: expect.stringMatching(/refuses INFO.*"amnesiaGuard"/) });
  });
});

describe('the reply of INFO', () => {
  const text = (more: string): string =>
    `# Server\r\nrun_id:abc\r\nuptime_in_seconds:7\r\n# Replication\r\nrole:master\r\nmaster_replid:def\r\n${more}`;

  it('is read', () => {
    const former = `master_replid2:${'0'.repeat(40)}\r\nloading:1\r\nmaxmemory_policy:noeviction\r\n`;
    expect(readServerInfo(text(former))).toEqual({
      ...{ runId: 'abc', replicationId: 'def', formerReplicationId: undefined, uptimeMs: 7000 },
      ...{ isPrimary: true, isLoading: true, evictionPolicy: 'noeviction' },
    });
    expect(readServerInfo(text('master_replid2:ghi\r\n'))?.formerReplicationId).toBe('ghi');
  });

  it.each(['', 'OK', 'run_id:abc\r\n', 'redis_version:7\r\nuptime_in_seconds:1\r\n'])('that says too little (%p) says nothing', (reply) => {
    expect(readServerInfo(reply)).toBeUndefined();
  });
});
