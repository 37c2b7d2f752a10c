import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { RedisLeaseStore } from '../../../lib/stores/redis/redis-lease-store.js';
import { TestProcess } from '../../support/process.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { Redis } from 'ioredis';

const PROGRAM = fileURLToPath(new URL('./replica.process.ts', import.meta.url));
/** `CRON_CHAOS_SECONDS=60` for the long run. */
const SECONDS = Number(process.env.CRON_CHAOS_SECONDS ?? 12);
const HOUR_MS = 3_600_000;

interface Entry {
  readonly instant: number;
  readonly token: number;
  readonly name: string;
}

describe.each(['skip', 'rerun'] as const)('an every-second job on three processes and a real Redis, onCrash: %s', (onCrash) => {
  let server: RedisServer;
  let client: Redis;
  const replicas: TestProcess[] = [];
  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.kill();
    client.disconnect();
    await server.stop();
  });

  const start = (name: string, skewMs: number): TestProcess => {
    const replica = new TestProcess(PROGRAM, { name, url: server.url, skewMs, onCrash });
    replicas.push(replica);
    return replica;
  };
  const journal = async (list: 'began' | 'ended'): Promise<Entry[]> =>
    (await client.lrange(list, 0, -1)).map((line) => {
      const [instant, token, name] = line.split(' ') as [string, string, string];
      return { instant: Number(instant), token: Number(token), name };
    });
  const ranFor = (seconds: number): Promise<unknown> =>
    waitFor(
      async () => {
        const all = await journal('began');
        return all.length > 0 && (all.at(-1)?.instant ?? 0) - (all[0]?.instant ?? 0) >= seconds * 1000;
      },
      { timeoutMs: (seconds + 30) * 1000, intervalMs: 50, message: `${String(seconds)} s of runs` },
    );

  it(
    'clocks an hour and five seconds off, kill -9 and SIGSTOP in between: each instant at most once, hardly one lost',
    async () => {
      const byName = new Map([
        ['a', start('a', 0)],
        ['b', start('b', HOUR_MS)],
        ['c', start('c', -5000)],
      ]);
      await ranFor(SECONDS / 3);
      const killed = (await journal('began')).at(-1)?.name as string;
      await byName.get(killed)?.kill();
      start('d', -HOUR_MS);
      await ranFor((2 * SECONDS) / 3);
      const frozen = [...byName].find(([name]) => name !== killed) as [string, TestProcess];
      frozen[1].freeze();
      await new Promise((resolve) => setTimeout(resolve, 1500));
      frozen[1].thaw();
      await ranFor(SECONDS);

      const began = await journal('began');
      const instants = began.map(({ instant }) => instant);
      const ended = (await journal('ended')).map(({ instant }) => instant);
      expect(new Set(ended).size).toBe(ended.length);
      if (onCrash === 'skip') expect(instants.join()).toBe([...new Set(instants)].join());
      else expect(instants.length - new Set(instants).size).toBeLessThanOrEqual(2);
      const tokens = began.map(({ token }) => token);
      expect(tokens.join()).toBe([...tokens].sort((x, y) => x - y).join());
      // A dead or frozen holder keeps the lease for one ttl (800 ms) at most, which costs one instant, or two on a busy machine.
      const due = ((began.at(-1)?.instant ?? 0) - (began[0]?.instant ?? 0)) / 1000 + 1;
      expect(due - new Set(instants).size).toBeLessThanOrEqual(4);

      const store = new RedisLeaseStore({ connection: server.url });
      const history = await store.instants.history('cron:job');
      expect(history.length).toBeGreaterThanOrEqual(Math.min(100, began.length - 1));
      await store.close();
    },
    (SECONDS + 60) * 1000,
  );
});
