import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { RedisFencingGuard } from 'nestjs-lease/fencing';
import { RedisServer } from '../../support/redis-server.js';
import { ruleCases } from './rule-cases.js';
import { classicStory, holder, type Holder } from './stories.js';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const clients = {
  'ioredis 6': () => new Redis(server.url),
  'ioredis 5': () => new Redis5(server.url),
  'ioredis 6 with a keyPrefix': () => new Redis(server.url, { keyPrefix: 'app:' }),
};

describe.each(Object.entries(clients))('fenced writes with %s', (_name, connect) => {
  let redis: ReturnType<typeof connect>;
  let guard: RedisFencingGuard;
  beforeAll(() => {
    redis = connect();
    guard = new RedisFencingGuard(redis);
  });
  afterAll(() => redis.disconnect());
  beforeEach(async () => {
    await server.ask('FLUSHALL');
  });

  const script = `redis.call('SET', KEYS[1], ARGV[1]) redis.call('INCR', KEYS[2]) return tonumber(ARGV[1])`;
  it.each([
    ['set', async (lease: Holder, value: number) => (await guard.set(lease, 'a', value), 1), () => redis.get('a')],
    ['hset', async (lease: Holder, value: number) => (await guard.hset(lease, 'a', { v: value, w: 'x' }), 1), () => redis.hget('a', 'v')],
    [
      'a script',
      async (lease: Holder, value: number) => (await guard.run(lease, { keys: ['a', 'n'], args: [value], script }), 1),
      () => redis.get('a'),
    ],
  ])('refuses the holder that was paused: %s', async (_verb, write, read) => {
    await classicStory(write);
    expect(await read()).toBe('5');
  });

  it('refuses the holder that was paused: del and accept', async () => {
    await guard.set(holder(34), 'a', 'b');
    await expect(guard.del(holder(33), 'a')).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE', current: holder(34).fencingToken });
    expect(await redis.get('a')).toBe('b');
    await classicStory(async (lease) => (await guard.run(lease, { keys: ['door'], script: '' }), 1));
    await guard.accept('r', 34, 'b');
    await expect(guard.accept('r', 33, 'a')).rejects.toMatchObject({ current: 34, resource: 'r' });
  });

  ruleCases(() => guard);

  it('a deleted key is not brought back by a late write', async () => {
    await guard.set(holder(33), 'a', 'x');
    expect(await guard.del(holder(34), 'a')).toBe(true);
    expect(await guard.del(holder(34), 'a')).toBe(false);
    await expect(guard.set(holder(33), 'a', 'x')).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE' });
    expect(await redis.exists('a')).toBe(0);
  });

  it('gives what the command gives', async () => {
    expect(await guard.hset(holder(33), 'h', { a: 1, b: 2 })).toBe(2);
    expect(await guard.hset(holder(33), 'h', { b: 3, c: 4 })).toBe(1);
    await guard.set(holder(33), 's', 'v', { ttl: '30s' });
    expect(await redis.pttl('s')).toBeGreaterThan(25_000);
    await guard.set(holder(33), 's', 'v');
    expect(await redis.pttl('s')).toBe(-1);
    expect(await guard.run(holder(33), { keys: ['s'], args: ['x', 2], script: `return {KEYS[1], ARGV[1], #ARGV, #KEYS}` })).toEqual([
      expect.stringContaining('s'),
      'x',
      2,
      1,
    ]);
  });

  it('a write that Redis refuses reaches the caller as it is, and still shuts out the older holder', async () => {
    await redis.set('s', 'text');
    await expect(guard.hset(holder(34), 's', { a: 1 })).rejects.toThrow('WRONGTYPE');
    await expect(guard.run(holder(34), { keys: ['s'], script: `return redis.error_reply('OWN no')` })).rejects.toThrow('OWN no');
    await expect(guard.run(holder(34), { keys: ['s'], script: `return redis.call('LPUSH', KEYS[1], 1)` })).rejects.toThrow('WRONGTYPE');
    expect(await redis.get('s')).toBe('text');
    await expect(guard.set(holder(33), 's', 'late')).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE' });
  });

  it('a fence key that holds something foreign is refused and left alone', async () => {
    const prefix = redis.options.keyPrefix ?? '';
    const fence = `{${prefix}a}:fence`;
    for (const occupy of [() => redis.lpush(fence, 1), () => redis.set(fence, 'whatever')]) {
      await redis.del(fence);
      await occupy();
      await expect(guard.set(holder(33), 'a', 1)).rejects.toMatchObject({
        code: 'LEASE_OPTIONS_INVALID',
        message: expect.stringContaining(prefix + fence),
      });
      expect(await redis.exists('a')).toBe(0);
    }
  });

  it('nothing of a guard stays in Redis without a time to live', async () => {
    await guard.set(holder(33), 'a', 'x');
    await guard.accept('door', 1, 'x');
    const fences = (await server.ask('KEYS', '*:fence')).match(/\S*:fence/g) ?? [];
    expect(fences).toHaveLength(2);
    for (const fence of fences) expect(await server.ask('PTTL', fence)).toMatch(/:60\d{7}/);
  });

  it('a token that cannot be compared never reaches Redis', async () => {
    await server.ask('CONFIG', 'RESETSTAT');
    for (const token of [0.5, NaN, Infinity, 2 ** 53, 0, -1]) {
      await expect(guard.set({ key: 'k', fencingToken: token, holderTag: 't' }, 'a', 1)).rejects.toMatchObject({ option: 'fencingToken' });
    }
    await expect(guard.set({ key: 'k', fencingToken: 1, holderTag: '' }, 'a', 1)).rejects.toMatchObject({ option: 'holderTag' });
    expect(await server.ask('INFO', 'commandstats')).not.toMatch(/eval/);
  });
});
