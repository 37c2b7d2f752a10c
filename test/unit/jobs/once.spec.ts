import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EffectUncertainError } from '../../../lib/errors/effect-uncertain.error.js';
import type { OnceOptions } from '../../../lib/service/once.js';
import { StoreError } from '../../../lib/stores/lease-store.js';
import { deferred } from '../../support/nest-app.js';
import { watch } from '../../support/lease-rig.js';
import { rejection, Replicas, type Replica } from './replicas.js';

const KEEP: OnceOptions = { keepFor: '1d' };
const KEY = 'charge:order-7';

describe('once', () => {
  let fleet: Replicas;
  let one: Replica;
  let two: Replica;

  beforeEach(() => {
    fleet = new Replicas();
    one = fleet.start('replica-1');
    two = fleet.start('replica-2');
  });

  it('gives the recorded result to every repeat, of every replica, and never computes it again', async () => {
    const fn = jest.fn(async () => ({ id: 'ch_1', amount: 7 }));
    const first = await one.service.once(KEY, fn, KEEP);
    expect(first).toEqual({ id: 'ch_1', amount: 7 });
    expect(await one.service.once(KEY, fn, KEEP)).toEqual(first);
    expect(await two.service.once(KEY, fn, KEEP)).toEqual(first);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('asks for no lease when the result is there', async () => {
    await one.service.once(KEY, () => 1, KEEP);
    await two.service.once(KEY, () => 2, KEEP);
    expect(two.store.calls('acquire')).toEqual([]);
    expect(two.store.calls('findEffect')).toEqual([KEY]);
  });

  it('runs under the lease of its key, inside the executor', async () => {
    const seen = await one.service.once(
      KEY,
      async (lease) => [
        lease.key,
        lease.fencingToken,
        one.service.current(KEY)?.fencingToken,
        (await two.service.inspect(KEY))?.fencingToken,
      ],
      KEEP,
    );
    expect(seen).toEqual([KEY, seen[1], seen[1], seen[1]]);
    expect(await two.service.inspect(KEY)).toBeUndefined();
  });

  it('is busy for who does not wait, and gives the result to all who do', async () => {
    const work = deferred<string>();
    const fn = jest.fn(() => work.promise);
    const running = one.service.once(KEY, fn, KEEP);
    await fleet.clock.settle();
    expect(await rejection(two.service.once(KEY, fn, KEEP))).toMatchObject({ code: 'LEASE_BUSY', holder: 'replica-1' });
    const waiting = [one, two, two].map(({ service }) => service.once(KEY, fn, { ...KEEP, wait: 60 }));
    await fleet.clock.advanceAsync(20_000);
    work.resolve('charged');
    await fleet.clock.advanceAsync(5000);
    expect(await Promise.all([running, ...waiting])).toEqual(['charged', 'charged', 'charged', 'charged']);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('computes it again when its time is over', async () => {
    let n = 0;
    const fn = (): number => ++n;
    await one.service.once(KEY, fn, { keepFor: '2m' });
    await fleet.clock.advanceAsync(119_999);
    expect(await two.service.once(KEY, fn, { keepFor: '2m' })).toBe(1);
    await fleet.clock.advanceAsync(1);
    expect(await two.service.once(KEY, fn, { keepFor: '2m' })).toBe(2);
  });

  describe('results', () => {
    it.each([
      ['nothing', undefined],
      ['null', null],
      ['an empty text', ''],
      ['a number', 0.1],
      ['false', false],
      ['a list', [1, { a: 'ä' }]],
    ])('keeps %s', async (_, value) => {
      expect(await one.service.once(KEY, () => value, KEEP)).toEqual(value);
      expect(await two.service.once(KEY, () => 'other', KEEP)).toEqual(value);
    });

    it('gives the first caller what JSON makes of it, as it gives to all others', async () => {
      const made = (): unknown => ({ at: new Date(0), left: undefined });
      expect(await one.service.once(KEY, made, KEEP)).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    });

    it.each([
      ['more than 64 KiB', 'x'.repeat(65_535), /takes 65537 bytes/],
      ['more than 64 KiB of another script', 'ä'.repeat(32_768), /takes 65538 bytes/],
      ['a bigint', 7n, /BigInt/],
      ['a function', () => 1, /cannot hold a function/],
    ])('refuses %s, to all callers, without a second effect', async (_, value, why) => {
      const fn = jest.fn(() => value);
      const first = await rejection(one.service.once(KEY, fn, KEEP));
      expect(first).toMatchObject({ code: 'EFFECT_RESULT_UNUSABLE', key: KEY });
      expect(first.message).toMatch(why);
      expect(await rejection(two.service.once(KEY, fn, { ...KEEP, rerun: true }))).toMatchObject({ message: first.message });
      expect(fn).toHaveBeenCalledTimes(1);
    });

    it('takes 64 KiB', async () => {
      const text = 'x'.repeat(65_534);
      await one.service.once(KEY, () => text, KEEP);
      expect(await two.service.once(KEY, () => '', KEEP)).toBe(text);
    });
  });

  describe('a try that fails', () => {
    it('throws what the function throws, which says that it did not take effect: the next call runs it', async () => {
      const declined = new Error('card declined');
      expect(await rejection(one.service.once(KEY, () => Promise.reject(declined), KEEP))).toBe(declined);
      expect(await two.service.once(KEY, () => 'charged', KEEP)).toBe('charged');
    });

    it('stays uncertain when the function says that it cannot tell', async () => {
      const unsure = new EffectUncertainError(KEY, { detail: 'the payment API timed out' });
      expect(await rejection(one.service.once(KEY, () => Promise.reject(unsure), KEEP))).toBe(unsure);
      expect(await rejection(two.service.once(KEY, () => 'charged', KEEP))).toMatchObject({ code: 'EFFECT_UNCERTAIN' });
    });
  });

  describe('a try that crashed', () => {
    const crash = async (): Promise<number> => {
      let token = 0;
      void one.service
        .once(KEY, (lease) => ((token = lease.fencingToken), new Promise(() => undefined)), { ...KEEP, ttl: 10 })
        .catch(() => undefined);
      await fleet.clock.settle();
      fleet.crash(one);
      return token;
    };

    it('is busy while its lease lasts, and then uncertain, however often it is asked', async () => {
      const token = await crash();
      expect(await rejection(two.service.once(KEY, () => 1, KEEP))).toMatchObject({ code: 'LEASE_BUSY' });
      await fleet.clock.advanceAsync(10_000);
      for (let i = 0; i < 2; i++) {
        const error = await rejection(two.service.once(KEY, () => 1, KEEP));
        expect(error).toMatchObject({
          code: 'EFFECT_UNCERTAIN',
          key: KEY,
          fencingToken: token,
          holder: 'replica-1',
          startedAt: expect.any(Number),
        });
        expect(error.getStatus()).toBe(409);
        expect(JSON.stringify(error.getResponse())).not.toContain('order-7');
      }
      expect(await two.service.inspect(KEY)).toBeUndefined();
    });

    it('runs once more with rerun: true, with a higher token, and its result counts', async () => {
      const token = await crash();
      await fleet.clock.advanceAsync(10_000);
      const again = await two.service.once(KEY, (lease) => lease.fencingToken, { ...KEEP, rerun: true });
      expect(again).toBeGreaterThan(token);
      expect(await two.service.once(KEY, () => 0, KEEP)).toBe(again);
    });

    it('is remembered for keepFor', async () => {
      await crash();
      await fleet.clock.advanceAsync(86_400_000);
      expect(await two.service.once(KEY, () => 'again', KEEP)).toBe('again');
    });
  });

  it('records nothing once the lease is lost: the caller is told, and so are repeats', async () => {
    const work = deferred();
    const call = rejection(one.service.once(KEY, () => work.promise, { ...KEEP, ttl: 10 }));
    await fleet.clock.settle();
    await fleet.shared.forceRelease(KEY);
    work.resolve();
    expect(await call).toMatchObject({ code: 'LEASE_LOST' });
    expect(await rejection(two.service.once(KEY, () => 1, KEEP))).toMatchObject({ code: 'EFFECT_UNCERTAIN' });
  });

  describe('a store that does not answer', () => {
    it('at the beginning: it is asked again, and the effect is begun once', async () => {
      one.store.dropReply('startEffect', 2);
      const fn = jest.fn(() => 'charged');
      const call = watch(one.service.once(KEY, fn, { ...KEEP, ttl: 12 }));
      await fleet.clock.advanceAsync(6000);
      expect(await call.now()).toBe('charged');
      expect(fn).toHaveBeenCalledTimes(1);
    });

    it.each(['dropRequest', 'dropReply'] as const)(
      'at the beginning, for good (%s): nothing is run, and it does not look like a crash',
      async (fault) => {
        const fn = jest.fn();
        one.store[fault]('startEffect', Infinity);
        const call = watch(one.service.once(KEY, fn, { ...KEEP, ttl: 12 }));
        await fleet.clock.advanceAsync(9000);
        expect(await call.now()).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
        expect(fn).not.toHaveBeenCalled();
        expect(await two.service.once(KEY, () => 1, KEEP)).toBe(1);
      },
    );

    it('that refuses the beginning: nothing is run', async () => {
      const fn = jest.fn();
      one.store.fail('startEffect', new StoreError('fatal', 'NOPERM'));
      expect(await rejection(one.service.once(KEY, fn, KEEP))).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
      expect(fn).not.toHaveBeenCalled();
    });

    it('at the end: it is told the result again while the lease is held', async () => {
      one.store.fail('settleEffect', new Error('ECONNRESET'), 2).dropReply('settleEffect');
      const call = watch(one.service.once(KEY, () => 'charged', { ...KEEP, ttl: 12 }));
      await fleet.clock.advanceAsync(10_000);
      expect(await call.now()).toBe('charged');
      expect(await two.service.once(KEY, () => 'twice', KEEP)).toBe('charged');
    });

    it('that refuses the result for good leaves it uncertain', async () => {
      one.store.fail('settleEffect', new StoreError('fatal', 'NOPERM'));
      expect(await rejection(one.service.once(KEY, () => 'charged', KEEP))).toMatchObject({ code: 'EFFECT_UNCERTAIN' });
      expect(await rejection(two.service.once(KEY, () => 'twice', KEEP))).toMatchObject({ code: 'EFFECT_UNCERTAIN' });
    });
  });

  it('never shares a lease: nested in a holder of its key it is busy, naming the holder', async () => {
    const nested = (): Promise<unknown> => one.service.once(KEY, () => 1, { ...KEEP, wait: 5 });
    const error = await rejection(one.service.withLease(KEY, nested));
    expect(error).toMatchObject({ code: 'LEASE_BUSY' });
    expect(error.message).toContain(`withLease('${KEY}') holds it and calls once('${KEY}')`);
    expect(await one.service.withLease('thread:7', nested)).toBe(1);
  });

  it.each<[string, string, unknown, unknown, string]>([
    ['no options', KEY, () => 1, undefined, 'keepFor'],
    ['no keepFor', KEY, () => 1, { ttl: 5 }, 'keepFor'],
    ['keepFor without a unit that may be milliseconds', KEY, () => 1, { keepFor: 86_400 }, 'keepFor'],
    ['keepFor of 31 days', KEY, () => 1, { keepFor: '31d' }, 'keepFor'],
    ['a bad ttl', KEY, () => 1, { keepFor: 1, ttl: -1 }, 'ttl'],
    ['no function', KEY, { keepFor: 1 }, undefined, 'fn'],
  ])('refuses %s', async (_, key, fn, options, option) => {
    const call = one.service.once(key, fn as () => number, options as OnceOptions);
    expect(await rejection(call)).toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option });
    expect(one.store.calls('findEffect')).toEqual([]);
  });

  it('refuses an empty key', async () => {
    expect(await rejection(one.service.once('', () => 1, KEEP))).toMatchObject({ code: 'LEASE_KEY_INVALID' });
  });

  it('says so when the store does not remember effects', async () => {
    Object.assign(one.store, { effects: undefined });
    expect(await rejection(one.service.once(KEY, () => 1, KEEP))).toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option: 'store' });
  });
});
