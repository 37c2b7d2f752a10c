import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { RedisServer } from '../../support/redis-server.js';
import { runNode } from './run-node.js';

const root = process.cwd();
const MAIN = join(root, 'dist-sample/02-singleton-cron/main.js');
let redis: RedisServer;

beforeAll(async () => {
  redis = await RedisServer.start();
  const env = { ...process.env, NODE_OPTIONS: '' };
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-needed', '--samples'], { env });
}, 180_000);

afterAll(() => redis.stop());

it.each(['in memory', 'on Redis'])(
  'the sample of singleton jobs, %s: one run for each instant, and the killed one run again with a higher token',
  async (store) => {
    const { code, output } = await runNode(MAIN, ['--once'], store === 'on Redis' ? { REDIS_URL: redis.url } : {});
    expect({ code, output }).toMatchObject({ code: 0 });
    const lines = [...output.matchAll(/^(\d\d:\d\d:\d\d) {2}(replica-\d) {2}(.*?)[ ;].*token (\d+)$/gm)];
    const killed = lines.find(([line]) => line.includes('is killed'));
    const again = lines.find(([line]) => line.includes('runs it again'));
    expect(again?.[1]).toBe(killed?.[1]);
    expect(again?.[2]).not.toBe(killed?.[2]);
    expect(Number(again?.[4])).toBeGreaterThan(Number(killed?.[4]));
    const runs = lines.filter(([line]) => !line.includes('is killed') && !line.includes('again')).map(([, instant]) => instant);
    expect(new Set(runs).size).toBe(runs.length);
    expect(output).toMatch(/\n6 instants were run to their end, 0 of them twice\.\n$/);
  },
  60_000,
);

it('says in one line that Redis is not there, and exits', async () => {
  const { code, output } = await runNode(MAIN, ['--once'], { REDIS_URL: 'redis://user:secret@127.0.0.1:1' });
  expect(code).toBe(1);
  expect(output).not.toContain('secret');
}, 30_000);
