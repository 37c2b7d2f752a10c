import { createRequire } from 'node:module';
import { Redis } from 'ioredis';

const require = createRequire(import.meta.url);
const TTL_MS = 30_000;

const whole = (made, close) => ({ ...(typeof made === 'function' ? { acquire: made } : made), close });
const ioredis = async (url, make) => {
  const client = new Redis(url);
  await client.ping();
  return whole(make(client), () => client.disconnect());
};
const nodeRedis = async (url, make) => {
  const client = await require('redis').createClient({ url }).connect();
  return whole(make(client), () => client.destroy());
};
/** From a function that keeps the lock alive while another runs: resolves once it is held, with what ends it. */
const held = (using) =>
  new Promise((resolve, reject) => {
    const over = using(() => new Promise((end) => resolve(() => (end(), over))));
    over.catch(reject);
  });
const redlock = (Redlock) => (url) =>
  ioredis(url, (client) => {
    const one = new Redlock([client]);
    one.on('error', () => undefined);
    const acquire = async (key) => {
      const lock = await one.acquire([key], TTL_MS);
      return () => lock.release();
    };
    return { acquire, hold: (key, ttlMs) => held((routine) => one.using([key], ttlMs, routine)) };
  });
const kit = (Redlock) => (url) =>
  nodeRedis(url, (client) => {
    const one = new Redlock([client]);
    const acquire = async (key) => {
      const lock = await one.acquire(key, TTL_MS);
      if (!lock) throw new Error('busy');
      return () => lock.release();
    };
    return { acquire, hold: (key, ttlMs) => held((routine) => one.withLock(key, ttlMs, routine)) };
  });

/**
 * Each with its own defaults: `acquire(key)` gives the function that releases, or throws when it gave up; `hold(key, ttlMs)` keeps
 * it alive until then, where the package can.
 */
export const peers = {
  'redlock 5 beta 2': async (url) => redlock(require('redlock').default)(url),
  '@sesamecare-oss/redlock 1.4': async (url) => redlock((await import('@sesamecare-oss/redlock')).Redlock)(url),
  '@anchan828/nest-redlock 0.4': (url) =>
    ioredis(url, (client) => {
      const { RedlockService } = require('@anchan828/nest-redlock');
      const one = new RedlockService({ clients: [client] });
      const acquire = async (key) => {
        const lock = await one.acquire([key], TTL_MS);
        return () => lock.release();
      };
      return { acquire, hold: (key, ttlMs) => held((routine) => one.using([key], ttlMs, routine)) };
    }),
  'redis-semaphore 5.8': (url) =>
    ioredis(url, (client) => {
      const { Mutex } = require('redis-semaphore');
      const acquire = async (key, ttlMs = TTL_MS) => {
        const mutex = new Mutex(client, key, { lockTimeout: ttlMs });
        await mutex.acquire();
        return () => mutex.release();
      };
      return { acquire, hold: acquire };
    }),
  '@redis-kit/lock 0.1': async (url) => kit((await import('@redis-kit/lock')).Redlock)(url),
  // RedlockService of this package is the class of @redis-kit/lock.
  '@nestjs-redis/lock 0.13': async (url) => kit(require('@nestjs-redis/lock').RedlockService)(url),
  'redlock-universal 0.8': (url) =>
    ioredis(url, (client) => {
      const { createLock, IoredisAdapter } = require('redlock-universal');
      const adapter = new IoredisAdapter(client);
      const acquire = async (key) => {
        const lock = createLock({ adapter, key, ttl: TTL_MS });
        const handle = await lock.acquire();
        return () => lock.release(handle);
      };
      return { acquire, hold: (key, ttlMs) => held((routine) => createLock({ adapter, key, ttl: ttlMs }).using(routine)) };
    }),
  '@microfleet/ioredis-lock 6': async (url) => {
    const { createLock } = await import('@microfleet/ioredis-lock');
    return ioredis(url, (client) => async (key) => {
      const lock = createLock(client, { timeout: TTL_MS, retries: 100, delay: 50 });
      await lock.acquire(key);
      return () => lock.release();
    });
  },
  'murlock 4.4': async (url) => {
    const { MurLockService } = require('murlock');
    const { AsyncStorageService } = require('murlock/dist/als/als.service');
    const { AsyncStorageManager } = require('murlock/dist/als/als-manager');
    require('@nestjs/common').Logger.overrideLogger(false);
    const storage = new AsyncStorageManager();
    const service = new MurLockService(
      { redisOptions: { url }, wait: 1000, maxAttempts: 3, logLevel: 'none' },
      new AsyncStorageService(storage),
    );
    await service.onModuleInit();
    const acquire = (key) => {
      let ended;
      return new Promise((resolve, reject) => {
        ended = service.runWithLock(key, TTL_MS, () => new Promise((end) => resolve(() => (end(), ended))));
        ended.catch(reject);
      });
    };
    return { acquire, close: () => service.onApplicationShutdown() };
  },
};
