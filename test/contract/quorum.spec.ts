import { afterAll, beforeAll, describe } from '@jest/globals';
import { Redis } from 'ioredis';
import { QuorumLeaseStore } from '../../lib/quorum-lease-store.js';
import { LeaseKeys } from '../../lib/stores/redis/keys.js';
import { RedisServer } from '../support/redis-server.js';
import { QuorumStore } from '../../lib/stores/quorum/quorum-store.js';
import { MemoryLeaseStore } from '../../lib/stores/memory/memory-lease-store.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import type { Clock } from '../../lib/time/clock.js';
import { describeLeaseStore, type StoreHarness } from './store-contract.js';

/** What a quorum does not offer. */
const without = { line: false, instants: false, effects: false, jobs: false } as const;

/** A node whose memory the suite may reach into. */
class OpenNode extends MemoryLeaseStore {
  constructor(private readonly time: Clock) {
    super({ clock: time });
  }

  lose(what: 'leases' | 'fences', key: string): void {
    this[what].delete(key);
  }

  fence(key: string): { token: number; ttlMs: number } | undefined {
    const fence = this.fences.get(key, this.time.wall());
    return fence && { token: fence.token, ttlMs: fence.expiresAt - this.time.wall() };
  }

  putFence(key: string, token: number): void {
    this.fences.set(key, { token, expiresAt: this.time.wall() + 86_400_000 }, this.time.wall());
  }
}

/** The fence of the quorum: what a majority remembers at least. */
function fenceOf(fences: readonly ({ token: number; ttlMs: number } | undefined)[]): { token: number; ttlMs: number } | undefined {
  const sorted = [...fences].sort((a, b) => (b?.token ?? 0) - (a?.token ?? 0));
  return sorted[Math.floor(fences.length / 2)];
}

async function onMemory(): Promise<StoreHarness> {
  const clock = new ManualClock();
  const nodes = [new OpenNode(clock), new OpenNode(clock), new OpenNode(clock)];
  const [store, rival] = [new QuorumStore(nodes, { clock, longestTtl: '1d' }), new QuorumStore(nodes, { clock, longestTtl: '1d' })];
  return {
    store,
    rival,
    slackMs: 0,
    advance: (ms) => clock.advanceAsync(ms),
    stepClock: (ms) => clock.stepWall(ms),
    loseKey: async (key) => nodes.forEach((node) => node.lose('leases', key)),
    loseFence: async (key) => nodes.forEach((node) => node.lose('fences', key)),
    readFence: async (key) => fenceOf(nodes.map((node) => node.fence(key))),
    putFence: async (key, value) => nodes.forEach((node) => node.putFence(key, Number(value))),
    close: async () => {
      await Promise.all([store.close(), rival.close()]);
    },
  };
}

describeLeaseStore('quorum of three in memory', onMemory, { ...without, virtualTime: true, runs: 300 });

describe('on Redis', () => {
  const servers: RedisServer[] = [];
  const clients: Redis[] = [];
  beforeAll(async () => {
    servers.push(...(await Promise.all(Array.from({ length: 5 }, () => RedisServer.start()))));
    clients.push(...servers.map(({ url }) => new Redis(url)));
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  });
  describeLeaseStore('quorum of five Redis servers', () => Promise.resolve(onRedis(clients)), {
    ...without,
    foreign: true,
    immortal: true,
    textFence: true,
    several: true,
    runs: 10,
  });
});

/** Store and rival have connections of their own; `clients` look at the servers behind their backs. */
function onRedis(clients: readonly Redis[]): StoreHarness {
  const namespace = 'quorum';
  const keys = new LeaseKeys(namespace);
  // The suite holds leases for longer than it runs, on servers that have just started.
  const options = { namespace, nodesForget: false, nodeTimeout: '5s' };
  const [store, rival] = [new QuorumLeaseStore(clients, options), new QuorumLeaseStore(clients, options)];
  const leaseOf = (key: string): string => keys.of(key)[0];
  const fenceKey = (key: string): string => keys.of(key)[1];
  const each = <T>(ask: (client: Redis) => Promise<T>): Promise<T[]> => Promise.all(clients.map(ask));
  return {
    store,
    rival,
    slackMs: 2000,
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    loseKey: async (key) => void (await each((client) => client.del(leaseOf(key)))),
    loseFence: async (key) => void (await each((client) => client.del(fenceKey(key)))),
    readFence: async (key) =>
      fenceOf(
        await each(async (client) => {
          const [token, ttlMs] = [await client.get(fenceKey(key)), await client.pttl(fenceKey(key))];
          return token === null ? undefined : { token: Number(token), ttlMs };
        }),
      ),
    putFence: async (key, value) => void (await each((client) => client.set(fenceKey(key), value, 'PX', 60_000))),
    putForeign: async (key) => void (await each((client) => client.rpush(leaseOf(key), 'somebody', 'else'))),
    isForeign: async (key) => (await each((client) => client.lrange(leaseOf(key), 0, -1))).every((list) => list.join() === 'somebody,else'),
    immortal: async () => {
      const found = await each(async (client) => {
        const all = await client.keys(`${namespace}:*`);
        const ttls = await Promise.all(all.map((key) => client.pttl(key)));
        return all.filter((key, i) => ttls[i] === -1 && !key.includes('foreign'));
      });
      return found.flat();
    },
    close: async () => {
      await Promise.all([store.close(), rival.close()]);
    },
  };
}
