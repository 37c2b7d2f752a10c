import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { readmeBlocks, root } from '../readme/blocks.js';
import { runCurlBlock } from './curl.js';
import { runNode, startNode } from './run-node.js';

const MAIN = join(root, 'dist-sample/01-quick-start/main.js');
const LIMIT_MS = 60_000;
let redis: RedisServer;

beforeAll(async () => {
  redis = await RedisServer.start();
  const env = { ...process.env, NODE_OPTIONS: '' };
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-needed', '--samples'], { env });
}, 180_000);

afterAll(() => redis.stop());

/** The stores a sample runs on, and the environment that chooses them. */
const stores = ['in memory', 'on Redis'] as const;
const environment = (store: string): Record<string, string> => (store === 'on Redis' ? { REDIS_URL: redis.url } : {});

describe.each(stores)('the quick start, %s', (store) => {
  it(
    'plays its scenes and exits',
    async () => {
      const { code, output } = await runNode(MAIN, ['--once'], environment(store));
      expect({ code, output }).toMatchObject({ code: 0 });
      const lines = output.trim().split('\n');
      expect(lines[0]).toMatch(
        store === 'on Redis' ? /^Store: Redis at redis:.* processes/ : /^Store: in memory, since REDIS_URL is not set/,
      );

      expect(output).toMatch(/replica-2 {2}is asked for job 42: 409 Conflict \(LEASE_BUSY, Retry-After: (60|5\d)\)/);
      const [first, again] = tokens(lines, /replica-\d {2}(has run job 42|is asked again): 201 Created/);
      expect(again).toBeGreaterThan(first!);

      const [frozen, current] = refusal(output, '7');
      expect(current).toBeGreaterThan(frozen);
      expect(tokens(lines, /replica-3 {2}took over and has run job 7: 201 Created/)).toEqual([current]);
      expect(output).toMatch(/replica-2 {2}has learned that it is late: 503 Service Unavailable \(LEASE_LOST\)/);

      expect(output).toMatch(/replica-3 {2}crashes \(.*\): no answer: the connection broke/);
      const [took] = tokens(lines, /replica-1 {2}took over and has run job 8: 201 Created/);
      expect(took).toBeGreaterThan(current);
      expect(output.match(/REFUSED/g)).toHaveLength(1);
    },
    LIMIT_MS,
  );

  it(
    'stays for the curl lines of the README',
    async () => {
      const child = startNode(MAIN, [], { ...environment(store), PORT: '0' });
      try {
        let output = '';
        child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
        child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
        const stay = await waitFor(() => /The replicas stay: (.*?)\. Ctrl-C/.exec(output)?.[1] ?? stillRuns(child.exitCode, output), {
          timeoutMs: LIMIT_MS,
          intervalMs: 50,
          message: 'the scenes to end',
        });
        const urls = (stay ?? '').split(', ');
        expect(urls).toHaveLength(3);
        const run = (name: string): Promise<string> => runCurlBlock(blockNamed(name), urls);

        const busy = await run('busy');
        expect(busy).toMatch(/HTTP\/1\.1 409 Conflict/);
        expect(busy).toMatch(/^retry-after: (60|5\d)/im);
        expect(busy).toMatch(/\{"statusCode":409,"message":"[^"]+","code":"LEASE_BUSY","retryAfterMs":\d+\}/);
        expect(busy).toMatch(/"state":"held","holder":"replica-1"/);
        expect(busy).toMatch(/\{"job":"42","fencingToken":\d+\}/);

        const waited = [...(await run('wait')).matchAll(/\{"job":"42","fencingToken":(\d+)\}/g)].map(([, token]) => Number(token));
        expect(waited).toHaveLength(2);
        expect(waited[1]).toBeGreaterThan(waited[0]!);
      } finally {
        const gone = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await gone;
      }
    },
    LIMIT_MS,
  );
});

it('says in one line that Redis is not there, and exits', async () => {
  const { code, output } = await runNode(MAIN, ['--once'], { REDIS_URL: 'redis://user:secret@127.0.0.1:1' });
  expect(code).toBe(1);
  expect(output).toMatch(/cannot be asked at start-up/);
  expect(output).not.toContain('secret');
}, 30_000);

it('runs every curl block of the README', () => {
  const names = readmeBlocks()
    .filter(({ text }) => /\bcurl\b/.test(text))
    .map(({ name, kind }) => `${kind}: ${name}`);
  expect(names).toEqual(['curl: busy', 'curl: wait']);
});

function blockNamed(name: string): string {
  const block = readmeBlocks().find((one) => one.kind === 'curl' && one.name === name);
  if (block === undefined) throw new Error(`The README has no curl block "${name}".`);
  return block.text;
}

function tokens(lines: readonly string[], about: RegExp): number[] {
  return lines.filter((line) => about.test(line)).map((line) => Number(/fencing token (\d+)/.exec(line)?.[1]));
}

/** The token that the table refused for a job, and the one it had accepted. */
function refusal(output: string, job: string): [number, number] {
  const found = new RegExp(`table +REFUSED the write of fencing token (\\d+) for job ${job}: it has accepted (\\d+)`).exec(output);
  return [Number(found?.[1]), Number(found?.[2])];
}

function stillRuns(exitCode: number | null, output: string): undefined {
  if (exitCode !== null) throw new Error(`The sample has ended: ${output}`);
  return undefined;
}
