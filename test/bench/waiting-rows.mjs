import { RedisLeaseStore } from 'nestjs-lease';
import { createLeaseService } from 'nestjs-lease/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareRenewals, holdFor } from './held.mjs';
import { heapUsed, median } from './measure.mjs';
import { behindTheDead, handOvers, line, pair, percentile, roundTrips, whileWaiting } from './waiting.mjs';

const round = (value, digits = 2) => Number(value.toFixed(digits));
const within = (what, value, most, detail) => ({ what, value, target: `<= ${most}`, met: value <= most, detail });
const times = async (n, run) => {
  const results = [];
  for (let i = 0; i < n; i++) results.push(await run(i));
  return results;
};

/** What waiting and holding cost. */
export const waitingRows = [
  {
    name: 'hand-over',
    title: 'from release() until one that waits has it, against round trips of the raw client',
    async run({ redis, rounds }) {
      const parties = pair(redis);
      await handOvers(parties, 50);
      const [raw, ours] = [[], []];
      for (let i = 0; i < rounds; i++) {
        raw.push(...(await roundTrips(redis.client, 300)));
        ours.push(...(await handOvers(parties, 100)));
      }
      await parties.close();
      const limit = round(2 * median(raw) + 0.3);
      const [middle, high] = [round(median(ours), 3), round(percentile(ours, 0.99), 3)];
      return [
        { what: 'raw round trip, median ms', value: round(median(raw), 3) },
        within('median ms', middle, limit, '2 round trips + 0.3 ms'),
        within('p99 ms', high, round(5 * middle), '5 medians'),
      ];
    },
  },
  {
    name: 'idle-line',
    title: '50 wait for a held lease',
    async run({ redis }) {
      return [within('commands a second', round(await whileWaiting(redis, 50, 15_000)), 1)];
    },
  },
  {
    name: 'line',
    title: 'waiters over 4 processes, each gives back at once',
    async run({ redis, rounds }) {
      const lines = [];
      const parties = pair(redis);
      const alone = median((await handOvers(parties, 200)).slice(50));
      await parties.close();
      lines.push({ what: '1 waiter, median ms', value: round(alone, 3) });
      for (const n of [50, 1000, 10_000]) {
        const results = await times(Math.min(rounds, 3), () => line(redis, n));
        const of = (name) => median(results.map((result) => result[name]));
        const faults = results.reduce((sum, { served, outOfOrder, gaveUp }) => sum + n - served + outOfOrder + gaveUp, 0);
        lines.push(
          within(`${n}: unserved, out of order`, faults, 0),
          within(`${n}: commands a hand-over`, round(of('commandsEach')), 3),
          within(`${n}: median ms`, round(of('medianMs'), 3), round(1.5 * alone, 3), `p99 ${round(of('p99Ms'))} ms`),
        );
      }
      return lines;
    },
  },
  {
    name: 'dead',
    title: 'a live waiter behind those of a killed process, ttl 1 s',
    async run({ redis, rounds }) {
      const [few, many] = [[], []];
      for (let i = 0; i < Math.min(rounds, 5); i++) {
        few.push(await behindTheDead(redis, 10));
        many.push(await behindTheDead(redis, 1000));
      }
      const ratio = round(median(many) / median(few));
      const detail = `${Math.round(median(few))} ms and ${Math.round(median(many))} ms`;
      return [{ what: '1,000 dead to 10 dead', value: ratio, target: '0.8..1.2', met: ratio >= 0.8 && ratio <= 1.2, detail }];
    },
  },
  {
    name: 'held-10k',
    title: '10,000 leases held for 30 s at a ttl of 10 s, against bare batches of the same renewals',
    async run({ redis, rounds }) {
      const about = { leases: 10_000, ttlMs: 10_000, forMs: 30_000 };
      const results = await times(Math.ceil(rounds / 4), async () => [await holdFor(redis, about), await bareRenewals(redis, about)]);
      const of = (name) => median(results.map(([ours]) => ours[name]));
      const ratio = median(results.map(([ours, bare]) => ours.cpuSeconds / bare.cpuSeconds));
      return [
        within('ratio to bare batches', round(ratio), 1.2, `${round(of('cpuSeconds'))} CPU seconds`),
        within('event loop p99 ms', round(of('p99Ms'), 1), 5, `longest ${round(of('longestMs'), 1)} ms`),
        within('heap each in bytes', Math.round(of('heapEach')), 1024),
        within('round trips of renewals', round(of('roundTrips') / of('renewals'), 4), 0.01),
      ];
    },
  },
  {
    name: 'keys',
    title: 'keys used once each (LEASE_BENCH_KEYS, default 100,000)',
    async run({ redis }) {
      await redis.client.flushall();
      const n = Number(process.env.LEASE_BENCH_KEYS ?? 100_000);
      const store = new RedisLeaseStore({ connection: redis.url, namespace: 'bench', fenceRetentionMs: 3000 });
      const service = createLeaseService({ store });
      const use = async (from, count) => {
        for (let i = from; i < from + count; i += 100) {
          await Promise.all(
            Array.from({ length: 100 }, async (_, k) => void (await (await service.acquire(`once:${i + k}`, { ttl: 1 })).release())),
          );
        }
      };
      const memory = async () => Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))[1]);
      // A process remembers the tokens of its last 10,000 keys.
      await use(-12_000, 12_000);
      await sleep(5000);
      const before = { heap: heapUsed(), redis: await memory() };
      await use(0, n);
      const heap = (heapUsed() - before.heap) / 1024;
      while ((await redis.client.dbsize()) > 0) await sleep(200);
      const grown = ((await memory()) - before.redis) / 1024;
      await store.close();
      return [within('heap grown in KB', Math.round(heap), 1024, `${n} keys`), within('Redis grown in KB', Math.round(grown), 1024)];
    },
  },
];
