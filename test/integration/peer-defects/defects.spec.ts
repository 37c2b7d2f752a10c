import { describe, expect, it } from '@jest/globals';
import { NotFoundException } from '@nestjs/common';
import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { WithLease } from '../../../lib/decorators/with-lease.decorator.js';
import { bindLease } from '../../../lib/testing/bind-lease.js';
import { AttackRig, rejection } from '../../support/attack-rig.js';
import { waitFor } from '../../support/wait-for.js';

/** Each was seen in a published lock package, and run there. */
describe('defects that other lock packages have', () => {
  const rig = new AttackRig();
  const calls = async (): Promise<number> => {
    const info = await rig.client.info('commandstats');
    return [...info.matchAll(/cmdstat_(?:evalsha|eval):calls=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
  };

  it('a default without renewal: a body longer than its ttl never runs twice at once', async () => {
    let [inside, most] = [0, 0];
    class Jobs {
      @WithLease('body:<0>', { ttl: '400ms', wait: 5 })
      async run(_id: string): Promise<void> {
        most = Math.max(most, ++inside);
        await sleep(1000);
        inside -= 1;
      }
    }
    const [here, there] = [bindLease(new Jobs(), rig.attacked().service), bindLease(new Jobs(), rig.rival().service)];
    await Promise.all([here.run('1'), there.run('1')]);
    expect(most).toBe(1);
  });

  it('one id for each process: a waiter that gives up deletes the holder’s lease', async () => {
    const a = rig.attacked();
    const key = rig.key();
    const lease = await a.service.acquire(key);
    expect(await rejection(a.service.withLease(key, { wait: '150ms' }, () => undefined))).toMatchObject({ code: 'LEASE_BUSY' });
    await sleep(50);
    expect(await rig.ownerOf(key)).toBe(lease.holderId);
    expect(await lease.release()).toBe(true);
  });

  it.each([[undefined], [null], [''], [{}], [[]], [Number.NaN]])('a key of %p takes no lock, or one for everybody', async (value) => {
    let ran = false;
    class Jobs {
      @WithLease('job:<0>')
      async run(_id: unknown): Promise<void> {
        ran = true;
        return Promise.resolve();
      }
    }
    const a = rig.attacked();
    const jobs = bindLease(new Jobs(), a.service);
    expect(await rejection(jobs.run(value))).toMatchObject({ code: 'LEASE_KEY_INVALID' });
    expect(ran).toBe(false);
    expect(a.store.calls('acquire')).toHaveLength(0);
    expect(await rejection(a.service.acquire(value as string))).toMatchObject({ code: 'LEASE_KEY_INVALID' });
  });

  it('an error of the handler is wrapped: a 404 becomes a 500', async () => {
    const error = new NotFoundException('no such job');
    const a = rig.attacked();
    const call = a.service.withLease(rig.key(), () => Promise.reject(error));
    expect(await rejection(call)).toBe(error);
  });

  it('a ttl below the margin of renewal: a hot loop of renewals', async () => {
    const a = rig.attacked();
    const lease = await a.service.acquire(rig.key(), { ttl: '400ms' });
    await rig.client.config('RESETSTAT');
    await sleep(1000);
    lease.assertHeld();
    expect(await calls()).toBeLessThanOrEqual(14);
    await lease.release();
  });

  it('a failed acquire leaves keys without an end', async () => {
    const [a, b] = [rig.attacked({ commandTimeout: '100ms' }), rig.rival()];
    const lease = await b.service.acquire('taken');
    rig.proxy.delay(150, 'reply');
    await Promise.allSettled(Array.from({ length: 20 }, (_, i) => a.service.acquire(i % 2 ? 'taken' : `failed:${String(i)}`, { ttl: 5 })));
    rig.proxy.pass();
    const ttls = await Promise.all((await rig.client.keys('*')).map((key) => rig.client.pttl(key)));
    expect(ttls.filter((ttl) => ttl === -1)).toEqual([]);
    await lease.release();
  });

  it('an error of a renewal is an unhandled rejection, and the handle still says “acquired”', async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', listen);
    const a = rig.attacked();
    const leases = await Promise.all([1, 2, 3].map(() => a.service.acquire(rig.key(), { ttl: 1 })));
    await rig.client.flushdb();
    await waitFor(() => a.engine.active.size === 0);
    await sleep(20);
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
    for (const lease of leases) {
      expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
      expect(lease.remainingMs()).toBe(0);
    }
  });

  it('each call leaves a timer behind', async () => {
    const a = rig.attacked();
    await rig.warm(a);
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    for (let i = 0; i < 50; i++) await a.service.withLease(rig.key(), { ttl: 5, wait: 1 }, () => undefined);
    expect(timers()).toBeLessThanOrEqual(before + 2);
  });

  it('scripts select database 0 for a client on database 5', async () => {
    const client = new Redis(rig.server.url, { db: 5 });
    const a = rig.attacked({ connection: client });
    const key = rig.key();
    const lease = await a.service.acquire(key);
    await lease.renew();
    expect(await rig.client.exists(rig.leaseKey(key))).toBe(0);
    expect(await client.exists(rig.leaseKey(key))).toBe(1);
    expect(await lease.release()).toBe(true);
    expect(await client.exists(rig.leaseKey(key))).toBe(0);
    client.disconnect();
  });

  it('parts of a key run together: a:b + c is a + b:c', async () => {
    class Jobs {
      @WithLease('<0>:<1>')
      async run(_a: string, _b: string, body: () => Promise<void>): Promise<void> {
        return body();
      }
    }
    const jobs = bindLease(new Jobs(), rig.attacked().service);
    let both = false;
    await jobs.run('a:b', 'c', () => jobs.run('a', 'b:c', async () => Promise.resolve(void (both = true))));
    expect(both).toBe(true);
    const rival = bindLease(new Jobs(), rig.rival().service);
    const held = jobs.run('a:b', 'c', () => rival.run('a', 'b:c', () => Promise.resolve()));
    await expect(held).resolves.toBeUndefined();
    const same = jobs.run('a', 'b', () => rival.run('a', 'b', () => Promise.resolve()));
    expect(await rejection(same)).toMatchObject({ code: 'LEASE_BUSY' });
  });

  it('Redis killed, then a call: it settles within the limit of a call', async () => {
    const a = rig.attacked();
    await rig.warm(a);
    await rig.server.kill();
    const start = performance.now();
    const outcomes = await Promise.allSettled([
      a.service.acquire(rig.key(), { ttl: 3 }),
      a.service.tryAcquire(rig.key(), { ttl: 3 }),
      a.service.withLease(rig.key(), { ttl: 3 }, () => undefined),
    ]);
    expect(performance.now() - start).toBeLessThan(1500);
    expect(outcomes.map((one) => (one as PromiseRejectedResult).reason.code)).toEqual(Array(3).fill('LEASE_UNAVAILABLE'));
    await rig.server.restart();
  });
});
