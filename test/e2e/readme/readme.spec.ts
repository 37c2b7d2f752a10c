import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RedisServer } from '../../support/redis-server.js';
import { runNode } from '../samples/run-node.js';
import { readmeBlocks, root } from './blocks.js';
import { compileExamples, harnessOf, RUNNER } from './program.js';
import type { RunOrder } from './run-examples.js';

const blocks = readmeBlocks();
/** What kinds there are, and in which language. `curl` is run by the spec of the samples. */
const KINDS: Record<string, readonly string[]> = { ts: ['example'], sql: ['sql'], sh: ['curl', 'command'] };
const examples = blocks.filter(({ kind }) => kind === 'example' || kind === 'sql');

let redis: RedisServer;
let complaints: string[];
let results: Record<string, string>;

beforeAll(async () => {
  redis = await RedisServer.start();
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-needed'], { env: { ...process.env, NODE_OPTIONS: '' } });
  complaints = compileExamples(examples, (text) => text.replaceAll('redis://127.0.0.1:6379', redis.url));
  const sql = Object.fromEntries(blocks.filter(({ kind }) => kind === 'sql').map(({ name, text }) => [name, text]));
  const order: RunOrder = { names: examples.map(({ name }) => name), sql };
  const { output } = await runNode(RUNNER, [JSON.stringify(order)], { README_REDIS_URL: redis.url });
  const answer = /^\{.*\}$/m.exec(output)?.[0];
  results = answer === undefined ? { runner: output } : (JSON.parse(answer) as Record<string, string>);
}, 180_000);

afterAll(() => redis.stop());

describe('the README', () => {
  it('says of every block how it is run', () => {
    const unknown = blocks.filter(({ language, kind }) => !KINDS[language]?.includes(kind));
    expect(unknown.map(({ line, language }) => `README.md:${line} (${language})`)).toEqual([]);
    expect(blocks.filter(({ language }) => language === 'ts').length).toBeGreaterThan(5);
  });

  it('has a harness for every block, and a name of its own', () => {
    expect(examples.filter((block) => !existsSync(harnessOf(block))).map(({ name }) => name)).toEqual([]);
    const names = blocks.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  it('has examples that compile', () => {
    expect(complaints).toEqual([]);
  });

  it.each(examples.map(({ name, line }) => [name, line] as const))('has an example "%s" that does what it says (line %i)', (name) => {
    expect(results[name] ?? results.runner).toBe('ok');
  });

  it('names commands that are there', () => {
    const { scripts, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const commands = Object.fromEntries(blocks.filter(({ kind }) => kind === 'command').map(({ name, text }) => [name, text]));
    expect(commands).toEqual({ install: 'npm install nestjs-lease ioredis', sample: 'npm ci && npm start', tests: 'npm ci && npm test' });
    expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String) });
    expect(peerDependencies).toHaveProperty('ioredis');
  });

  it('links to what is there', () => {
    const text = readFileSync(join(root, 'README.md'), 'utf8');
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(
      ([, title = '']) =>
        `#${title
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-')}`,
    );
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    expect(links.filter((link) => (link.startsWith('#') ? !headings.includes(link) : !existsSync(join(root, link))))).toEqual([]);
  });
});
