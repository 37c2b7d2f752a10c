import { performance } from 'node:perf_hooks';
import { findServers } from '../support/find-servers.mjs';
import { median } from './measure.mjs';
import { startRedis } from './server.mjs';

const LEASES = 2000;
const TTL_MS = 30_000;
/** As many as a store sends in one call, and pipelines of as many commands. */
const TOGETHER = 32;

/** The value of a lease, as long as an ordinary one, and what it is compared by. */
const leaseOf = (i) => {
  const holderId = `holder${String(i).padStart(16, '0')}`;
  const token = String(1_790_000_000_000_000 + i);
  return { lease: `native:{job:${i}}`, holderId, token, value: `${holderId} ${token} ${TTL_MS} 1790000000000 h tag12345 web-7f9c:12345` };
};
const leases = Array.from({ length: LEASES }, (_, i) => leaseOf(i));
const keysOf = ({ lease }, parts) => [lease, ...parts.map((part) => `${lease}:${part}`)];

/** What ends or extends leases: `alone` for one of them, `together` for several; each says by a list of commands how. */
async function ways(server) {
  const { releaseScript, renewScript } = {
    ...(await import('../../dist/esm/stores/redis/scripts/release.script.js')),
    ...(await import('../../dist/esm/stores/redis/scripts/renew.script.js')),
  };
  const retention = 86_400_000;
  const script = ({ sha, lua }, keys, shared, args) => ({
    lua,
    of: (some) => [['evalsha', sha, some.length * keys.length, ...some.flatMap(keys.of), ...shared, ...some.flatMap(args)]],
  });
  const inRelease = { length: 4, of: (one) => keysOf(one, ['fence', 'queue', 'waiters']) };
  const inRenew = { length: 2, of: (one) => keysOf(one, ['fence']) };
  const commands = (of) => ({ of: (some) => some.flatMap(of) });
  const isValkey = server.startsWith('Valkey');
  const drop = isValkey ? ({ lease, value }) => ['delifeq', lease, value] : ({ lease, value }) => ['delex', lease, 'IFEQ', value];
  const set = ({ lease, value }) => ['set', lease, value, 'IFEQ', value, 'PX', TTL_MS];
  const name = isValkey ? 'DELIFEQ' : 'DELEX IFEQ';
  return {
    release: {
      'our script': script(releaseScript, inRelease, [retention, 'native:wake:'], ({ holderId, token }) => [holderId, token, '']),
      [`${name}, which forgets who waits`]: commands((one) => [drop(one)]),
      [`${name} and EXISTS of the line`]: commands((one) => [drop(one), ['exists', `${one.lease}:waiters`]]),
    },
    renew: {
      'our script': script(renewScript, inRenew, [retention], ({ holderId, token }) => [holderId, TTL_MS, token]),
      'SET IFEQ, which may shorten': commands((one) => [set(one)]),
      'SET IFEQ and PEXPIRE of the fence': commands((one) => [set(one), ['pexpire', `${one.lease}:fence`, retention]]),
    },
  };
}

/** Every lease is there again, and its fence. */
async function restore(redis) {
  const pipeline = redis.client.pipeline();
  for (const { lease, token, value } of leases) {
    pipeline.set(lease, value, 'PX', TTL_MS);
    pipeline.set(`${lease}:fence`, token, 'PX', 86_400_000);
  }
  await pipeline.exec();
}

/** One round: leases each second, and what the server spends on each, in µs. */
async function spend(redis, way, size) {
  await restore(redis);
  const cpu = await redis.cpuSeconds();
  const start = performance.now();
  for (let i = 0; i < LEASES; i += size) {
    const commands = way.of(leases.slice(i, i + size));
    if (commands.length === 1) await redis.client.call(...commands[0]);
    else for (const [error] of await redis.client.pipeline(commands.map((one) => ['call', ...one])).exec()) if (error) throw error;
  }
  const seconds = (performance.now() - start) / 1000;
  return { perSecond: LEASES / seconds, serverMicros: (((await redis.cpuSeconds()) - cpu) / LEASES) * 1e6 };
}

async function compareOn({ program, title }, rounds) {
  const redis = await startRedis(program);
  const lines = [];
  try {
    for (const [verb, choices] of Object.entries(await ways(title))) {
      for (const { lua } of Object.values(choices)) if (lua) await redis.client.script('LOAD', lua);
      for (const size of [1, TOGETHER]) {
        const results = Object.fromEntries(Object.keys(choices).map((what) => [what, []]));
        for (let round = 0; round <= rounds; round++) {
          for (const [what, way] of Object.entries(choices)) {
            const result = await spend(redis, way, size);
            // The first round warms up.
            if (round > 0) results[what].push(result);
          }
        }
        const of = (what, part) => median(results[what].map((one) => one[part]));
        for (const what of Object.keys(choices)) {
          const each = size === 1 ? 'one by one' : `${size} together`;
          const detail = `${of(what, 'serverMicros').toFixed(1)} µs of ${title}`;
          lines.push({ what: `${title}, ${verb}, ${each}: ${what}`, value: Math.round(of(what, 'perSecond')), detail });
        }
      }
    }
  } finally {
    await redis.stop();
  }
  return lines;
}

const REMARK = `
The commands are cheaper for the server, and none is used, since none does what a verb of a store does. A release must see in the
same step whether somebody waits, and offer the lease; it must also heal a fence that was lost meanwhile. With \`DELEX\` and \`EXISTS\`
a hand-over takes one more round trip, and waits for somebody to look when its sender dies in between; alone that pair saves a third of
the server's time, and for the leases that one turn gives back together, which is where the load is, both come to the same rate. A renewal by \`SET IFEQ\`
would be refused by a server whose memory is full, would shorten the lease when it comes late, needs the whole value (which another
renewal may have rewritten), and refreshes no fence. An acquire mints its token from the fence, which no such command reads. The
undo of an acquire is a release: its holder may be in the line. Only a lease that nobody can wait for would do, and a store does not
know one.
`.trim();

export const nativeRow = {
  name: 'native',
  title: 'leases/s of our scripts, and of the compare-and-set commands of newer servers (`npm run bench -- --only native`)',
  optional: true,
  remark: REMARK,
  async run({ rounds }) {
    const lines = [];
    for (const server of findServers()) {
      if (server.name === 'Redis 7') continue;
      if (server.missing) lines.push({ what: server.name, value: 'NOT RUN', detail: server.missing });
      else lines.push(...(await compareOn(server, rounds)));
    }
    return lines;
  },
};
