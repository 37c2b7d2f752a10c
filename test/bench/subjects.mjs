import { randomUUID } from 'node:crypto';
import { LeaseEvents, RedisLeaseStore } from 'nestjs-lease';
import { createLeaseService } from 'nestjs-lease/testing';

/** Compare and delete: what everybody writes. */
const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/** The pair that a careful hand would write, on a client with default settings. */
export function rawPair(client) {
  client.defineCommand('rawRelease', { numberOfKeys: 1, lua: RELEASE });
  return async (key, ttlMs) => {
    const id = randomUUID();
    if ((await client.set(key, id, 'PX', ttlMs, 'NX')) !== 'OK') throw new Error(`${key} is busy`);
    if ((await client.rawRelease(key, id)) !== 1) throw new Error(`${key} was not ours`);
  };
}

/** A lease service without Nest, whose store counts the batches of renewals. */
export function leaseService(connection) {
  const store = new RedisLeaseStore({ connection, namespace: 'bench' });
  const counts = { renewBatches: 0, renewals: 0 };
  const renew = store.renew.bind(store);
  store.renew = (requests) => {
    counts.renewBatches += 1;
    counts.renewals += requests.length;
    return renew(requests);
  };
  const service = createLeaseService({ store, events: new LeaseEvents() });
  return { service, store, counts, cycle: async (key, ttl) => void (await (await service.acquire(key, { ttl })).release()) };
}

/** `n` cycles by `workers` at once, each on a key of its own. */
export async function cycles(n, workers, cycle) {
  let left = n;
  const work = async (i) => {
    const key = `job:${i}`;
    while (left-- > 0) await cycle(key);
  };
  await Promise.all(Array.from({ length: workers }, (_, i) => work(i)));
}
