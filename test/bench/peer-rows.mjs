import { setTimeout as sleep } from 'node:timers/promises';
import { median, timed } from './measure.mjs';
import { cycles, leaseService, rawPair } from './subjects.mjs';
import { handOvers, percentile } from './waiting.mjs';

const spread = (list) => `${Math.round(Math.min(...list))}..${Math.round(Math.max(...list))}`;

const ours = (url) => {
  const { service, store } = leaseService(url);
  const acquire = async (key) => {
    const lease = await service.acquire(key, { ttl: 30, wait: 60 });
    return () => lease.release();
  };
  return { acquire, close: () => store.close() };
};

/** Opens each subject twice (holder and waiter); one that does not load is named with its reason and left out. */
async function open(redis) {
  const { peers } = await import('./peers/peers.mjs').catch(() => {
    throw new Error('The peers are not installed: npm ci --prefix test/bench/peers --legacy-peer-deps');
  });
  const subjects = [];
  const failed = [];
  for (const [name, make] of [['nestjs-lease', ours], ...Object.entries(peers)]) {
    try {
      const [a, b] = [await make(redis.url), await make(redis.url)];
      await (
        await a.acquire('first')
      )();
      subjects.push({ name, a, b, sequential: [], parallel: [], handOver: [], gaveUp: 0 });
    } catch (error) {
      failed.push({ what: name, value: 'does not run', detail: String(error.message ?? error).slice(0, 100) });
    }
  }
  return { subjects, failed };
}

async function handOversOf(subject, n) {
  for (let i = 0; i < n; i++) {
    try {
      // At different moments of their polling.
      const hold = () => 5 + Math.random() * 40;
      subject.handOver.push(...(await handOvers({ acquire: subject.a.acquire, other: subject.b.acquire, waits: () => sleep(2) }, 1, hold)));
    } catch {
      subject.gaveUp += 1;
      await sleep(50);
    }
  }
}

/** Ours, the raw commands and the peers, one after the other in each round. */
export const peerRow = {
  name: 'peers',
  title: 'cycles a second (one after the other; 64 keys at once) and hand-over to 1 waiter, each with its defaults',
  optional: true,
  async run({ redis, rounds }) {
    await redis.client.flushall();
    const { subjects, failed } = await open(redis);
    const raw = rawPair(redis.client);
    const rawSubject = { name: 'raw SET + compare-and-delete', sequential: [], parallel: [] };
    const cycle = (subject) =>
      subject === rawSubject
        ? (key) => raw(key, 30_000)
        : async (key) => void (await (await subject.a.acquire(`${subject.name}:${key}`))());
    for (const subject of [rawSubject, ...subjects]) await cycles(2000, 64, cycle(subject));
    for (let i = 0; i < rounds; i++) {
      const all = [rawSubject, ...subjects];
      for (const subject of i % 2 ? all.reverse() : all) {
        for (const [list, n, workers] of [
          [subject.sequential, 1000, 1],
          [subject.parallel, 6400, 64],
        ]) {
          const { wallMs } = await timed(() => cycles(n, workers, cycle(subject)));
          list.push((n / wallMs) * 1000);
        }
        if (subject !== rawSubject) await handOversOf(subject, 10);
      }
    }
    for (const { a, b } of subjects) await Promise.all([a.close(), b.close()]);
    const lines = [rawSubject, ...subjects].map((subject) => ({
      what: subject.name,
      value: Math.round(median(subject.sequential)),
      detail: [
        `${spread(subject.sequential)}; 64 keys ${Math.round(median(subject.parallel))} (${spread(subject.parallel)})`,
        subject.handOver?.length
          ? `hand-over ${median(subject.handOver).toFixed(2)} ms, p99 ${percentile(subject.handOver, 0.99).toFixed(1)} ms`
          : '',
        subject.gaveUp ? `gave up ${subject.gaveUp}` : '',
      ]
        .filter(Boolean)
        .join('; '),
      sequential: Math.round(median(subject.sequential)),
      parallel: Math.round(median(subject.parallel)),
      spread: spread(subject.sequential),
      handOverMs: subject.handOver?.length ? median(subject.handOver) : undefined,
    }));
    return [...lines, ...failed];
  },
};

/** 5,000 of them, kept alive for 20 s by whoever can; CPU of this process, which does nothing else. */
export const peersHeldRow = {
  name: 'peers-held',
  title: '5,000 leases held for 20 s at a ttl of 10 s, each with its defaults',
  optional: true,
  async run({ redis }) {
    const { peers } = await import('./peers/peers.mjs');
    const lines = [];
    let most = Infinity;
    for (const [name, make] of Object.entries(peers)) {
      const peer = await make(redis.url);
      if (peer.hold) {
        const cost = await holding(redis, (key) => peer.hold(key, 10_000));
        if (cost.kept) most = Math.min(most, cost.cpuSeconds);
        lines.push({ what: name, value: Number(cost.cpuSeconds.toFixed(3)), detail: cost.detail });
      } else lines.push({ what: name, value: 'has no renewal' });
      await peer.close();
    }
    const { service, store, counts } = leaseService(redis.url);
    const cost = await holding(redis, async (key) => {
      const lease = await service.acquire(key, { ttl: 10 });
      return () => lease.release();
    });
    const value = Number(cost.cpuSeconds.toFixed(3));
    const detail = `${cost.detail}, ${counts.renewals} renewals`;
    await store.close();
    return [{ what: 'nestjs-lease', value, target: `< ${most.toFixed(3)}`, met: value < most, detail }, ...lines];
  },
};

async function holding(redis, hold) {
  await redis.client.flushall();
  const ends = [];
  for (let i = 0; i < 5000; i += 100) ends.push(...(await Promise.all(Array.from({ length: 100 }, (_, k) => hold(`held:${i + k}`)))));
  await sleep(1000);
  await redis.reset();
  const { cpuMs } = await timed(() => sleep(20_000));
  const kept = await redis.client.eval("return #redis.call('KEYS', '*held:*[0-9]') + #redis.call('KEYS', '*{held:*}')", 0);
  const [evalsha, evals] = [await redis.calls('evalsha'), await redis.calls('eval')];
  await Promise.allSettled(ends.map((end) => end()));
  const lost = kept < 5000 ? `, of 5,000 only ${kept} were still held` : '';
  return { cpuSeconds: cpuMs / 1000, kept: kept >= 5000, detail: `${evalsha + evals} script calls${lost}` };
}
