import { bindLease, createLeaseService } from 'nestjs-lease/testing';
import { WithLease } from 'nestjs-lease';
import { holdFor, bareRenewals } from './held.mjs';
import { compare, median, timed } from './measure.mjs';
import { nativeRow } from './native-rows.mjs';
import { peerRow, peersHeldRow } from './peer-rows.mjs';
import { cycles, leaseService, rawPair } from './subjects.mjs';
import { waitingRows } from './waiting-rows.mjs';

const TTL_MS = 30_000;
const round = (value, digits = 2) => Number(value.toFixed(digits));

/** Every row: what is measured, and the target it must meet. */
export const rows = [
  {
    name: 'commands',
    title: 'round trips of an uncontended cycle',
    async run({ redis }) {
      const { cycle, store } = leaseService(redis.url);
      await cycle('warm-up', 30);
      await redis.reset();
      for (let i = 0; i < 200; i++) await cycle('job', 30);
      const value = ((await redis.calls('evalsha')) + (await redis.calls('eval'))) / 200;
      await store.close();
      return [{ what: 'per cycle', value, target: '<= 2', met: value <= 2 }];
    },
  },
  {
    name: 'sequential',
    title: 'one cycle after the other, against SET NX PX + compare-and-delete',
    run: (context) => againstRaw(context, { workers: 1, n: 2000, target: 0.95 }),
  },
  {
    name: 'parallel',
    title: '64 keys at once, against the same pair',
    run: (context) => againstRaw(context, { workers: 64, n: 12_800, target: 1.3 }),
  },
  {
    name: 'decorator',
    title: 'a decorated method, against a direct call of the service',
    async run({ rounds }) {
      class Jobs {
        run(id) {
          return Promise.resolve(id);
        }
      }
      const descriptor = Object.getOwnPropertyDescriptor(Jobs.prototype, 'run');
      WithLease('job:<0>')(Jobs.prototype, 'run', descriptor);
      Object.defineProperty(Jobs.prototype, 'run', descriptor);
      const service = createLeaseService();
      const jobs = bindLease(new Jobs(), service);
      const n = 10_000;
      const decorated = async () => {
        for (let i = 0; i < n; i++) await jobs.run('7');
      };
      const direct = async () => {
        for (let i = 0; i < n; i++) await service.withLease('job:7', () => Promise.resolve('7'));
      };
      await decorated();
      await direct();
      const differences = [];
      const costs = [];
      for (let i = 0; i < Math.max(rounds, 5); i++) {
        const [a, b] = i % 2 ? [await timed(decorated), await timed(direct)] : [await timed(direct), await timed(decorated)].reverse();
        differences.push(((a.cpuMs - b.cpuMs) / n) * 1000);
        costs.push((b.cpuMs / n) * 1000);
      }
      const value = round(median(differences));
      return [
        { what: 'overhead in µs', value, detail: `on ${round(median(costs), 1)} µs of a direct call`, target: '< 10', met: value < 10 },
      ];
    },
  },
  {
    name: 'held',
    title: '5,000 leases held for 20 s at a ttl of 10 s, against bare batches of the same renewals',
    async run({ redis, rounds }) {
      const ours = [];
      const bare = [];
      for (let i = 0; i < Math.min(rounds, 3); i++) {
        ours.push(await holdFor(redis, { leases: 5000, ttlMs: 10_000, forMs: 20_000 }));
        bare.push(await bareRenewals(redis, { leases: 5000, ttlMs: 10_000, forMs: 20_000 }));
      }
      const of = (list, name) => median(list.map((one) => one[name]));
      const cpu = round(of(ours, 'cpuSeconds'), 3);
      const ratio = round(median(ours.map((one, i) => one.cpuSeconds / bare[i].cpuSeconds)));
      const trips = of(ours, 'roundTrips');
      const heap = Math.round(of(ours, 'heapEach'));
      const detail = `${of(ours, 'renewals')} renewals in ${of(ours, 'commands')} script calls`;
      return [
        { what: 'CPU seconds', value: cpu, target: '< 0.5', met: cpu < 0.5, detail: `idle event loop included` },
        { what: 'CPU of bare batches', value: round(of(bare, 'cpuSeconds'), 3) },
        { what: 'ratio to bare batches', value: ratio, target: '<= 1.2', met: ratio <= 1.2 },
        { what: 'round trips', value: trips, target: '<= 100', met: trips <= 100, detail },
        { what: 'heap each in bytes', value: heap, target: '< 1024', met: heap < 1024 },
        { what: 'longest pause of the loop in ms', value: round(of(ours, 'longestMs'), 1) },
      ];
    },
  },
  ...waitingRows,
  peerRow,
  peersHeldRow,
  nativeRow,
];

async function againstRaw({ redis, rounds }, { workers, n, target }) {
  const { cycle, store } = leaseService(redis.url);
  const raw = rawPair(redis.client);
  const result = await compare(
    rounds,
    n,
    (count) => cycles(count, workers, (key) => cycle(key, 30)),
    (count) => cycles(count, workers, (key) => raw(key, TTL_MS)),
  );
  await store.close();
  const detail = `CPU ${round(result.oursCpuMicros, 1)} µs against ${round(result.rawCpuMicros, 1)} µs`;
  return [
    { what: 'cycles/s', value: result.ours, detail },
    { what: 'cycles/s of the raw pair', value: result.raw },
    { what: 'ratio', value: round(result.ratio), target: `>= ${target}`, met: result.ratio >= target },
  ];
}
