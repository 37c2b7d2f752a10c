import type { Cluster, Redis } from 'ioredis';
import type { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import type { RedisConnectionOption } from '../../lib/stores/redis/connection-option.js';
import { LeaseKeys } from '../../lib/stores/redis/keys.js';
import { RedisLeaseStore } from '../../lib/stores/redis/redis-lease-store.js';
import type { StoreHarness } from './store-contract.js';

let counter = 0;

/** Store and rival have connections of their own, made from `connection`; `client` looks at the server behind their backs. */
export function redisHarness(client: Redis | Redis5 | Cluster | Cluster5, connection: RedisConnectionOption = client): StoreHarness {
  counter += 1;
  const namespace = `lease-${String(counter)}`;
  const keys = new LeaseKeys(namespace);
  const [store, rival] = [new RedisLeaseStore({ connection, namespace }), new RedisLeaseStore({ connection, namespace })];
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
      const nodes = client.isCluster ? (client as Cluster).nodes('master') : [client as Redis];
      const all = (await Promise.all(nodes.map((node) => node.keys(`${namespace}:*`)))).flat();
      const ttls = await Promise.all(all.map((key) => client.pttl(key)));
      return all.filter((key, i) => ttls[i] === -1 && !key.includes('foreign'));
    },
    close: async () => {
      await Promise.all([store.close(), rival.close()]);
    },
  };
}
