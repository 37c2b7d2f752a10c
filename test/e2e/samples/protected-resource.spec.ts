import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisServer } from '../../support/redis-server.js';
import { buildSamples, programOf } from './built.js';
import { runNode } from './run-node.js';

const LIMIT_MS = 60_000;
let redis: RedisServer;

beforeAll(async () => {
  redis = await RedisServer.start();
  buildSamples();
}, 180_000);

afterAll(() => redis.stop());

/** Runs a sample to its end, and gives what it has printed. */
async function play(sample: string, store: string): Promise<string> {
  const environment: Record<string, string> = store === 'on Redis' ? { REDIS_URL: redis.url } : {};
  const { code, output } = await runNode(programOf(sample), ['--once'], environment);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toMatch(store === 'on Redis' ? /^(Store|Leases): Redis at redis:.* processes/ : /^(Store|Leases): in memory/);
  return output;
}

describe.each(['in memory', 'on Redis'])('%s', (store) => {
  it(
    '03-fenced-writes: the row refuses the late write, and a plain UPDATE loses the newer one',
    async () => {
      const output = await play('03-fenced-writes', store);
      const [, late, current] = /REFUSED \(LEASE_LOST\): fencing token (\d+), the row has accepted (\d+)/.exec(output) ?? [];
      expect(Number(current)).toBeGreaterThan(Number(late));
      expect(output).toContain(`worker-2   took over and wrote order 33 with fencing token ${String(current)}`);
      expect(output).toContain(`order 33 is shipped by worker-2, fence ${String(current)}`);
      expect(output).toContain('order 34 is shipped by worker-1, which has no fence: the newer write is LOST');
    },
    LIMIT_MS,
  );

  it(
    '04-job-worker: a replica crashes, and every job is done once',
    async () => {
      const output = await play('04-job-worker', store);
      expect(output).toMatch(/replica-2 {2}crashes in the middle of its jobs/);
      expect(output).toMatch(/12 jobs are done, 0 of them twice; [12] were begun again after the crash\./);
      const done = [...output.matchAll(/has done job (\d+),/g)].map(([, job]) => job);
      expect([done.length, new Set(done).size]).toEqual([12, 12]);
    },
    LIMIT_MS,
  );

  it(
    '05-agent-runs: replicas crash in the middle of a thread, and no tool call is repeated',
    async () => {
      const output = await play('05-agent-runs', store);
      expect(output).toMatch(/replica-1 {2}crashes before call 3/);
      expect(output).toMatch(/replica-3 {2}crashes in call 2, before its answer is recorded/);
      expect(output).toContain('replica-2  is not sure about 8/call-2 and asks the tool: already done');
      expect(output).toContain('6 tool calls took effect, 0 of them more than once.');
      expect(output.match(/to its end: 3 answers/g)).toHaveLength(2);
    },
    LIMIT_MS,
  );
});

it('says in one line that Redis is not there, and exits', async () => {
  const { code, output } = await runNode(programOf('04-job-worker'), ['--once'], { REDIS_URL: 'redis://user:secret@127.0.0.1:1' });
  expect(code).toBe(1);
  expect(output).toMatch(/cannot be asked at start-up/);
  expect(output).not.toContain('secret');
}, 30_000);
