import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Lease } from '../../../lib/lease/lease.js';
import { acquireScript } from '../../../lib/stores/redis/scripts/acquire.script.js';
import { releaseScript } from '../../../lib/stores/redis/scripts/release.script.js';
import { renewScript } from '../../../lib/stores/redis/scripts/renew.script.js';
import { AttackRig, rejection } from '../../support/attack-rig.js';
import type { Holder } from '../../support/holder.js';
import { askRedis } from '../../support/ask-redis.js';
import type { CommandFate } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';

const scripts = { acquire: acquireScript, renew: renewScript, release: releaseScript };
type Verb = keyof typeof scripts;
const verbs = ['acquire', 'renew', 'release'] as const;

/** What Redis says in its own words, while it does nothing of what it was asked. */
const ERRORS = [
  'LOADING Redis is loading the dataset in memory',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'MOVED 3999 127.0.0.1:6381',
  'ASK 3999 127.0.0.1:6381',
  'CLUSTERDOWN The cluster is down',
  'UNKILLABLE Sorry the script already executed write commands against the dataset.',
  'ERR Error running script: Script killed by user with SCRIPT KILL... script: 1, on @user_script:1.',
];

/** From a server that was given as the whole of Redis: no retry of an acquire can mend that. */
const ONE_OF_MANY = ERRORS.filter((error) => /^(MOVED|ASK)/.test(error));

describe('errors of Redis while a lease is taken, renewed and given back', () => {
  const rig = new AttackRig({ args: ['--busy-reply-threshold', '20'] });

  /** The next call of this verb meets `fate`; tells how often one was met. */
  function meet(verb: Verb, fate: CommandFate, times = 1): () => number {
    let met = 0;
    rig.proxy.commands((command) => {
      if (met >= times || !command.some((part) => part === scripts[verb].sha || part === scripts[verb].lua)) return 'pass';
      met += 1;
      return fate;
    });
    return () => met;
  }

  /** One whole life of a lease, with trouble before one of its verbs. */
  async function life(
    holder: Holder,
    verb: Verb,
    trouble: () => void | Promise<void>,
  ): Promise<{ lease: Lease; key: string; freed: boolean }> {
    const key = rig.key();
    await rig.warm(holder);
    if (verb === 'acquire') await trouble();
    const lease = await holder.service.acquire(key, { ttl: 3, wait: 3 });
    if (verb === 'renew') {
      await trouble();
      await lease.renew();
    }
    expect(await rig.ownerOf(key)).toBe(lease.holderId);
    expect(Number(await rig.client.get(rig.fenceKey(key)))).toBe(lease.fencingToken);
    lease.assertHeld();
    if (verb === 'release') await trouble();
    const freed = await lease.release();
    await waitFor(async () => (await rig.pttl(key)) === -2);
    return { lease, key, freed };
  }

  it.each(ONE_OF_MANY)('acquire: %s is told as what it is, and nothing is taken', async (error) => {
    const a = rig.attacked();
    const key = rig.key();
    await rig.warm(a);
    const met = meet('acquire', { error });
    const refused = await rejection(a.service.acquire(key, { ttl: 3, wait: 3 }));
    expect(refused).toMatchObject({ code: 'LEASE_UNAVAILABLE', message: expect.stringContaining('single node of a Redis Cluster') });
    expect(met()).toBe(1);
    expect(await rig.pttl(key)).toBe(-2);
  });

  describe.each(verbs)('%s', (verb) => {
    it.each(verb === 'acquire' ? ERRORS.filter((error) => !ONE_OF_MANY.includes(error)) : ERRORS)('%s', async (error) => {
      const a = rig.attacked();
      let met = (): number => 0;
      await life(a, verb, () => void (met = meet(verb, { error })));
      expect(met()).toBe(1);
      expect(a.types()).not.toContain('lost');
    });

    it('the connection is reset', async () => {
      const a = rig.attacked();
      let met = (): number => 0;
      await life(a, verb, () => void (met = meet(verb, 'reset')));
      expect(met()).toBe(1);
      expect(a.types()).not.toContain('lost');
    });

    it('scripts were flushed: not even a retry of ours (nestjs-redis#15, ioredis#58, ioredis#1438)', async () => {
      const a = rig.attacked();
      const { freed } = await life(a, verb, async () => void (await rig.client.script('FLUSH')));
      expect(freed).toBe(true);
      expect(a.types()).toEqual(['acquired', 'released']);
    });

    it('BUSY: a script of somebody else runs for ever, until it is killed', async () => {
      const a = rig.attacked();
      await life(a, verb, async () => {
        void askRedis(rig.server, ['EVAL', 'while true do end', '0'], 30_000).catch(() => undefined);
        await waitFor(async () => (await rig.server.ask('PING')).startsWith('-BUSY'));
        setTimeout(() => void rig.server.ask('SCRIPT', 'KILL'), 150);
      });
      expect(a.types()).not.toContain('lost');
    });

    it('READONLY: the primary has become a replica, and a primary again', async () => {
      const a = rig.attacked();
      await life(a, verb, async () => {
        await rig.client.call('REPLICAOF', '127.0.0.1', '1');
        setTimeout(() => void rig.client.call('REPLICAOF', 'NO', 'ONE'), 150);
      });
      expect(a.types()).not.toContain('lost');
    });

    it('MASTERDOWN: a replica that has lost its primary and serves no stale data', async () => {
      const a = rig.attacked();
      await life(a, verb, async () => {
        await rig.client.config('SET', 'replica-serve-stale-data', 'no');
        await rig.client.call('REPLICAOF', '127.0.0.1', '1');
        setTimeout(() => void rig.client.call('REPLICAOF', 'NO', 'ONE'), 150);
      });
      expect(a.types()).not.toContain('lost');
    });

    it('NOREPLICAS: too few replicas to write', async () => {
      const a = rig.attacked();
      await life(a, verb, async () => {
        await rig.client.config('SET', 'min-replicas-to-write', '1');
        setTimeout(() => void rig.client.config('SET', 'min-replicas-to-write', '0'), 150);
      });
      expect(a.types()).not.toContain('lost');
    });

    it('OOM: only a new lease has to wait for memory', async () => {
      const a = rig.attacked();
      const start = performance.now();
      await life(a, verb, async () => {
        await rig.client.config('SET', 'maxmemory', '1');
        if (verb === 'acquire') setTimeout(() => void rig.client.config('SET', 'maxmemory', '0'), 150);
      });
      await rig.client.config('SET', 'maxmemory', '0');
      expect(performance.now() - start).toBeLessThan(4000);
      expect(a.types()).not.toContain('jeopardy');
    });

    it('WRONGTYPE is loud, names the key and touches nothing', async () => {
      const [a, key] = [rig.attacked(), rig.key()];
      const foreign = async (): Promise<void> => {
        await rig.client.multi().del(rig.leaseKey(key)).rpush(rig.leaseKey(key), 'somebody else').exec();
      };
      if (verb === 'acquire') {
        await foreign();
        const error = await rejection(a.service.acquire(key, { wait: 5 }));
        expect(error).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
        expect(error.message).toContain(rig.leaseKey(key));
      } else {
        const lease = await a.service.acquire(key, { ttl: 1 });
        await foreign();
        if (verb === 'renew') expect(await lease.lost).toMatchObject({ code: 'LEASE_LOST' });
        expect(await lease.release()).toBe(false);
      }
      expect(await rig.client.lrange(rig.leaseKey(key), 0, -1)).toEqual(['somebody else']);
    });
  });

  it('a renewal that meets errors only until the soft deadline is lost there, for want of the store', async () => {
    const a = rig.attacked();
    const lease = await a.service.acquire(rig.key(), { ttl: '900ms' });
    const start = performance.now();
    const met = meet('renew', { error: ERRORS[0] as string }, Infinity);
    expect(await lease.lost).toMatchObject({ reason: 'store' });
    expect(performance.now() - start).toBeLessThan(700);
    expect(met()).toBeGreaterThan(3);
    expect(met()).toBeLessThan(60);
    expect(a.types().filter((type) => type === 'jeopardy')).toHaveLength(1);
  });
});

describe('a Redis that cannot save to disk (MISCONF)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lease-misconf-'));
  const rig = new AttackRig({ args: ['--dir', folder, '--save', '3600 1'] });

  it('grants nothing and says why, and keeps what is held while it refuses to write', async () => {
    const a = rig.attacked();
    const held = await a.service.acquire(rig.key(), { ttl: '1500ms' });
    rmSync(folder, { recursive: true });
    await rig.client.call('BGSAVE');
    await waitFor(async () => (await rig.client.info('persistence')).includes('rdb_last_bgsave_status:err'));
    expect((await rejection(a.service.acquire(rig.key()))).message).toContain('MISCONF');
    await waitFor(() => a.types().includes('jeopardy'));
    held.assertHeld();
    await rig.client.config('SET', 'stop-writes-on-bgsave-error', 'no');
    await held.renew();
    expect(await held.release()).toBe(true);
    expect(a.types()).not.toContain('lost');
  });
});

describe('a Redis with a password', () => {
  const rig = new AttackRig();

  it('NOAUTH is loud at once, though there is time to wait', async () => {
    await rig.client.config('SET', 'requirepass', 'secret');
    const a = rig.attacked();
    const start = performance.now();
    const error = await rejection(a.service.acquire(rig.key(), { wait: 10 }));
    expect(error).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    expect(error.message).toMatch(/NOAUTH/);
    expect(performance.now() - start).toBeLessThan(3000);
    await rig.client.config('SET', 'requirepass', '');
  });
});
