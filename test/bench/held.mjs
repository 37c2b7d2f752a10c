import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { renewScript } from '../../dist/esm/stores/redis/scripts/renew.script.js';
import { heapUsed, timed } from './measure.mjs';
import { leaseService } from './subjects.mjs';

/** Leases in one script call of the store. */
const IN_CALL = 100;

/** Holds so many leases and does nothing else; what the renewals of `forMs` cost. */
export async function holdFor(redis, { leases, ttlMs, forMs }) {
  await redis.client.flushall();
  const { service, store, counts } = leaseService(redis.url);
  const take = (name, n) => Promise.all(Array.from({ length: n }, (_, i) => service.acquire(`${name}:${i}`, { ttl: `${ttlMs}ms` })));
  // What is made once, and what the garbage of acquiring leaves behind, is not counted to the leases.
  await Promise.all((await take('warm-up', leases)).map((lease) => lease.release()));
  const before = heapUsed();
  const held = await take('job', leases);
  const heapEach = (heapUsed() - before) / leases;
  // A few renewals first: what the engine compiles once is not what a renewal costs.
  await sleep(ttlMs);
  counts.renewBatches = counts.renewals = 0;
  await redis.reset();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const { cpuMs } = await timed(() => sleep(forMs));
  const commands = (await redis.calls('evalsha')) + (await redis.calls('eval'));
  const { renewBatches: roundTrips, renewals } = counts;
  const { longestMs, p99Ms } = await pauses(delay, ttlMs);
  for (const lease of held) lease.assertHeld();
  await Promise.all(held.map((lease) => lease.release()));
  await store.close();
  return { cpuSeconds: cpuMs / 1000, heapEach, roundTrips, commands, renewals, longestMs, p99Ms };
}

/** A histogram costs CPU itself: it runs apart, for one more round of renewals. */
async function pauses(delay, ttlMs) {
  delay.enable();
  await sleep(ttlMs / 3);
  delay.disable();
  return { longestMs: delay.max / 1e6, p99Ms: delay.percentile(99) / 1e6 };
}

/** The same renewals on a raw client, at the same pace, with nothing around them. */
export async function bareRenewals(redis, { leases, ttlMs, forMs }) {
  await redis.client.flushall();
  const { store } = leaseService(redis.url);
  const requests = Array.from({ length: leases }, (_, i) => ({
    key: `job:${i}`,
    holderId: randomUUID(),
    holderTag: 'bare',
    holder: 'bench',
    ttlMs: 60_000,
  }));
  // Of the store, not of a service: nobody renews them but the lines below.
  const grants = await Promise.all(requests.map((request) => store.acquire(request)));
  const held = requests.map((request, i) => ({ ...request, fencingToken: grants[i].fencingToken }));
  const client = new Redis(redis.url);
  await client.script('LOAD', renewScript.lua);
  const calls = [];
  for (let i = 0; i < leases; i += IN_CALL) {
    const some = held.slice(i, i + IN_CALL);
    const keys = some.flatMap(({ key }) => [`bench:{${key}}`, `bench:{${key}}:fence`]);
    const args = some.flatMap(({ holderId, fencingToken }) => [holderId, ttlMs, fencingToken]);
    calls.push([keys.length, [...keys, 86_400_000, ...args]]);
  }
  const rounds = forMs / (ttlMs / 4);
  const renew = async (times) => {
    for (let round = 0; round < times; round++) {
      await sleep(ttlMs / 4);
      const replies = await Promise.all(calls.map((call) => client.evalsha(renewScript.sha, ...call)));
      if (replies.some((reply) => reply.slice(1).some((one) => one !== 1))) throw new Error('A renewal was refused.');
    }
  };
  await renew(4);
  const { cpuMs } = await timed(() => renew(rounds));
  client.disconnect();
  await store.close();
  return { cpuSeconds: cpuMs / 1000 };
}
