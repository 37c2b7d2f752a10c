import { afterAll, beforeAll, describe } from '@jest/globals';
import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { RedisLeaseStore } from '../../lib/stores/redis/redis-lease-store.js';
import { LeaseKeys } from '../../lib/stores/redis/keys.js';
import { RedisServer } from '../support/redis-server.js';
import { describeLeaseStore, type StoreHarness } from './store-contract.js';

/** Store and rival have connections of their own; `client` looks at the server behind their backs. */
function harness(client: Redis6 | Redis5): StoreHarness {
  const namespace = `lease-${String(client.options.port)}`;
  const keys = new LeaseKeys(namespace);
  const [store, rival] = [new RedisLeaseStore({ connection: client, namespace }), new RedisLeaseStore({ connection: client, namespace })];
  const leaseOf = (key: string): string => keys.of(key)[0];
  const fenceOf = (key: string): string => keys.of(key)[1];
  return {
    store,
    rival,
    slackMs: 2000,
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    loseKey: async (key) => void (await client.del(leaseOf(key))),
    loseFence: async (key) => void (await client.del(fenceOf(key))),
    readFence: async (key) => {
      const [token, ttlMs] = [await client.get(fenceOf(key)), await client.pttl(fenceOf(key))];
      return token === null ? undefined : { token: Number(token), ttlMs };
    },
    putFence: async (key, value) => void (await client.set(fenceOf(key), value, 'PX', 60_000)),
    putForeign: async (key) => void (await client.rpush(leaseOf(key), 'somebody', 'else')),
    isForeign: async (key) => (await client.lrange(leaseOf(key), 0, -1)).join() === 'somebody,else',
    immortal: async () => {
      const all = await client.keys(`${namespace}:*`);
      const ttls = await Promise.all(all.map((key) => client.pttl(key)));
      return all.filter((key, i) => ttls[i] === -1 && !key.includes('foreign'));
    },
    close: async () => {
      await Promise.all([store.close(), rival.close()]);
    },
  };
}

describe.each([
  ['ioredis 6', (url: string) => new Redis6(url)],
  ['ioredis 5', (url: string) => new Redis5(url)],
] as const)('%s', (name, connect) => {
  let server: RedisServer;
  let client: Redis6 | Redis5;
  beforeAll(async () => {
    server = await RedisServer.start();
    client = connect(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });
  describeLeaseStore(`redis, ${name}`, () => Promise.resolve(harness(client)), {
    foreign: true,
    immortal: true,
    textFence: true,
    runs: 30,
  });
});
