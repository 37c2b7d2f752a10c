import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './measure.mjs';
import { leaseService } from './subjects.mjs';

const KEY = 'line';
const QUEUE = `bench:{${KEY}}:queue`;
const program = join(import.meta.dirname, 'waiter.mjs');

export const percentile = (numbers, p) => [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * p))];

/** Milliseconds of a round trip of the raw client. */
export async function roundTrips(client, n) {
  const times = [];
  for (let i = 0; i < n; i++) {
    const start = performance.now();
    await client.set('raw', '1');
    times.push(performance.now() - start);
  }
  return times;
}

/** From the call of `release` until one that waits in another process has it, so many times. */
export async function handOvers({ acquire, other, waits }, n, holdMs = () => 1) {
  const times = [];
  for (let i = 0; i < n; i++) {
    const release = await acquire('hand-over');
    const next = other('hand-over').then((end) => ({ end, at: performance.now() }));
    await waits();
    await sleep(holdMs(i));
    const start = performance.now();
    const [{ end, at }] = await Promise.all([next, release()]);
    times.push(at - start);
    await end();
  }
  return times;
}

/** Two services on connections of their own. */
export function pair(redis) {
  const [a, b] = [leaseService(redis.url), leaseService(redis.url)];
  const take = (service) => async (key) => {
    const lease = await service.acquire(key, { ttl: 30, wait: 60 });
    return () => lease.release();
  };
  const waits = async () => {
    while ((await redis.client.zcard('bench:{hand-over}:queue')) === 0) await sleep(0);
  };
  return { acquire: take(a.service), other: take(b.service), waits, close: () => Promise.all([a.store.close(), b.store.close()]) };
}

async function startWaiter(redis) {
  const child = fork(program, [JSON.stringify({ url: redis.url })]);
  await once(child, 'message');
  return child;
}

async function inLine(redis, n) {
  while ((await redis.client.zcard(QUEUE)) < n) await sleep(5);
}

/** So many waiters over 4 processes, in slices, so that the line goes to and fro between them; each gives back at once. */
export async function line(redis, waiters) {
  await redis.client.flushall();
  const holder = leaseService(redis.url);
  const held = await holder.service.acquire(KEY, { ttl: 30 });
  const children = await Promise.all(Array.from({ length: 4 }, () => startWaiter(redis)));
  const slice = Math.ceil(waiters / 40);
  for (let from = 0, i = 0; from < waiters; from += slice, i++) {
    const ids = Array.from({ length: Math.min(slice, waiters - from) }, (_, n) => from + n);
    children[i % 4].send({ type: 'wait', ids, key: KEY });
    await inLine(redis, from + ids.length);
  }
  await redis.reset();
  const idle = Promise.all(children.map(async (child) => void (await once(child, 'message'))));
  await held.release();
  await idle;
  const commands = (await redis.calls('evalsha')) + (await redis.calls('eval')) + (await redis.calls('subscribe'));
  const reports = [];
  for (const child of children) {
    child.send({ type: 'report' });
    reports.push((await once(child, 'message'))[0]);
    child.send({ type: 'end' });
  }
  await holder.store.close();
  const served = reports.flatMap((report) => report.served).sort((a, b) => a.token - b.token);
  const times = served.slice(1).map(({ grantedAt }, i) => grantedAt - served[i].releasedAt);
  return {
    served: served.length,
    outOfOrder: served.filter(({ id }, i) => id !== i).length,
    gaveUp: reports.reduce((sum, report) => sum + report.gaveUp, 0),
    commandsEach: commands / waiters,
    medianMs: median(times),
    p99Ms: percentile(times, 0.99),
  };
}

/** A live waiter behind so many of a process that was killed: from the release until it has the lease. */
export async function behindTheDead(redis, dead) {
  await redis.client.flushall();
  const [holder, live] = [leaseService(redis.url), leaseService(redis.url)];
  const held = await holder.service.acquire(KEY, { ttl: 1 });
  const child = await startWaiter(redis);
  child.send({ type: 'wait', ids: Array.from({ length: dead }, (_, i) => i), key: KEY, keep: true });
  await inLine(redis, dead);
  const next = live.service.acquire(KEY, { ttl: 1, wait: 60 });
  await inLine(redis, dead + 1);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const start = performance.now();
  await held.release();
  const lease = await next;
  const ms = performance.now() - start;
  await lease.release();
  await Promise.all([holder.store.close(), live.store.close()]);
  return ms;
}

/** Commands a second while so many of one process wait for a held lease. */
export async function whileWaiting(redis, waiters, forMs) {
  await redis.client.flushall();
  const holder = leaseService(redis.url);
  const held = await holder.service.acquire(KEY, { ttl: 30 });
  const child = await startWaiter(redis);
  child.send({ type: 'wait', ids: Array.from({ length: waiters }, (_, i) => i), key: KEY });
  await inLine(redis, waiters);
  await redis.reset();
  await sleep(forMs);
  const names = ['evalsha', 'eval', 'subscribe', 'ping'];
  const calls = (await Promise.all(names.map((name) => redis.calls(name)))).reduce((sum, n) => sum + n, 0);
  child.kill('SIGKILL');
  await held.release();
  await holder.store.close();
  return calls / (forMs / 1000);
}
