import { describe, expect, it, jest } from '@jest/globals';
import { join } from 'node:path';
import { AttackRig, rejection } from '../../support/attack-rig.js';
import { TestProcess } from '../../support/process.js';
import type { OnceProcessOptions } from './once.process.js';

jest.setTimeout(30_000);

const PROGRAM = join(import.meta.dirname, 'once.process.ts');
const KEEP = { keepFor: '1h' };

describe('once on Redis', () => {
  const rig = new AttackRig();

  it('computes a result once, for many callers of many replicas at the same moment', async () => {
    const replicas = [rig.rival(), rig.rival(), rig.rival()];
    const key = rig.key();
    const fn = jest.fn(async (): Promise<object> => ({ charged: await rig.client.incr(`count:${key}`) }));
    const calls = Array.from({ length: 30 }, (_, i) => replicas[i % 3]!.service.once(key, fn, { ...KEEP, wait: 20 }));
    expect(new Set((await Promise.all(calls)).map((result) => JSON.stringify(result)))).toEqual(new Set(['{"charged":1}']));
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('asks Redis once for a repeat, and four times for the first call besides the look', async () => {
    const { service, store } = rig.rival();
    const warm = rig.key();
    await service.once(warm, () => 1, KEEP);
    const key = rig.key();
    await rig.client.config('RESETSTAT');
    const scripts = async (): Promise<number> => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await rig.client.info('commandstats'))?.[1]);
    await service.once(key, () => ({ ok: true }), KEEP);
    expect(await scripts()).toBe(5);
    expect(await service.once(key, () => ({ ok: false }), KEEP)).toEqual({ ok: true });
    expect(await scripts()).toBe(6);
    expect(store.calls('acquire')).toHaveLength(2);
  });

  it('keeps the effect in the slot of the lease, with an end', async () => {
    const key = rig.key();
    await rig.rival().service.once(key, () => 'x', { keepFor: '2m' });
    const effect = `${rig.leaseKey(key)}:effect`;
    expect(await rig.client.hgetall(effect)).toMatchObject({ state: 'done', text: '"x"' });
    expect(await rig.client.pttl(effect)).toBeGreaterThan(100_000);
    expect(await rig.client.pttl(effect)).toBeLessThanOrEqual(120_000);
    expect(await rig.pttl(key)).toBeLessThan(0);
  });

  it('says so when something foreign lies under the key of the effect', async () => {
    const key = rig.key();
    await rig.client.set(`${rig.leaseKey(key)}:effect`, 'somebody else', 'PX', 60_000);
    const error = await rejection(rig.rival().service.once(key, () => 1, KEEP));
    expect(error).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
  });

  it('runs once and records the result when every first answer of the store is lost', async () => {
    const attacked = rig.attacked();
    await rig.warm(attacked);
    const key = rig.key();
    attacked.store.dropReply('startEffect').dropReply('settleEffect');
    expect(await attacked.service.once(key, () => rig.client.incr(`count:${key}`), { ...KEEP, ttl: '2s' })).toBe(1);
    expect(await rig.rival().service.once(key, () => 'twice', KEEP)).toBe(1);
  });

  describe('a process that is killed', () => {
    const run = (key: string, hang: OnceProcessOptions['hang']): TestProcess =>
      new TestProcess(PROGRAM, { url: rig.server.url, key, hang });

    it('between the effect and its record leaves it uncertain; the effect is not repeated', async () => {
      const key = rig.key();
      const child = run(key, 'after-effect');
      await child.message('effect');
      await child.kill();
      const { service } = rig.rival({ namespace: 'once' });
      const effect = (): Promise<number> => rig.client.incr(`effects:${key}`);
      expect(await rejection(service.once(key, effect, { ...KEEP, wait: 10 }))).toMatchObject({
        code: 'EFFECT_UNCERTAIN',
        holder: 'child',
      });
      expect(await rig.client.get(`effects:${key}`)).toBe('1');
      expect(await service.once(key, effect, { ...KEEP, rerun: true })).toBe(2);
      expect(await service.once(key, effect, KEEP)).toBe(2);
    });

    it('after the record has left its result to everybody', async () => {
      const key = rig.key();
      const child = run(key, 'after-record');
      await child.message('recorded');
      await child.kill();
      expect(await rig.rival({ namespace: 'once' }).service.once(key, () => 7, KEEP)).toBe(1);
    });
  });
});
