import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { entryPoints, exportFields } from '../../scripts/entry-points.mjs';
import { RedisServer } from '../support/redis-server.js';
import { Consumer, pack, runTool } from './consumer.js';

const specifiers = entryPoints().map(({ subPath }) => `nestjs-lease${subPath.slice(1)}`);
let packed: { tarball: string; files: string[] };
let redis: RedisServer;

beforeAll(async () => {
  packed = await pack();
  redis = await RedisServer.start();
});

afterAll(async () => {
  await redis.stop();
  await rm(dirname(packed.tarball), { recursive: true, force: true });
});

describe('the tarball', () => {
  it('holds the two builds and the documents, and nothing else', () => {
    const outside = packed.files.filter((file) => !/^dist\/(esm|cjs)\/.+\.(js|js\.map|d\.ts)$/.test(file)).sort();
    expect(outside).toEqual(['ARCHITECTURE.md', 'CHANGELOG.md', 'LICENSE', 'README.md', 'dist/cjs/package.json', 'package.json']);
  });

  it('holds every file that the exports name', () => {
    const { exports, typesVersions } = exportFields();
    const named = [...JSON.stringify({ exports, typesVersions }).matchAll(/"\.\/(dist\/[^"]+)"/g)].map(([, file]) => file);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((file) => !packed.files.includes(file!))).toEqual([]);
  });

  it('has nothing that publint minds', async () => {
    expect(await runTool('publint/src/cli.js', ['run', packed.tarball, '--strict'])).toContain('All good');
  });

  it('has types that resolve (are the types wrong?)', async () => {
    expect(await runTool('@arethetypeswrong/cli/dist/index.js', [packed.tarball, '--profile', 'node16', '--no-emoji'])).toContain(
      'No problems found',
    );
  });
});

const consumers = [
  {
    name: 'nest12-esm',
    what: 'NestJS 12, ES modules, ioredis 6, TypeScript 6',
    own: 'nodenext',
    resolutions: [
      ['node16', 'node16'],
      ['esnext', 'bundler'],
    ],
  },
  {
    name: 'nest11-cjs',
    what: 'NestJS 11, CommonJS, ioredis 5, TypeScript 5.9',
    own: 'node10',
    resolutions: [
      ['node16', 'node16'],
      ['nodenext', 'nodenext'],
      ['preserve', 'bundler'],
    ],
  },
] as const;

describe.each(consumers)('$what', ({ name, own, resolutions }) => {
  let consumer: Consumer;

  beforeAll(async () => {
    consumer = await Consumer.install(name, packed.tarball);
  });

  afterAll(async () => {
    await rm(dirname(consumer.folder), { recursive: true, force: true });
  });

  it(`compiles (moduleResolution ${own}), starts, and runs under leases`, async () => {
    await consumer.tsc();
    const answer: unknown = JSON.parse(await consumer.node('dist/main.js', [], { REDIS_URL: redis.url }));
    expect(answer).toEqual({
      http: { id: '7', key: 'job:7', same: true, isLease: true, report: '7:number' },
      redis: { tokenIsNumber: true, busy: true },
      clock: 5,
    });
  });

  it('`require` and `import` give the same classes', async () => {
    const answer = JSON.parse(await consumer.node('identity.cjs', specifiers)) as { compared: number; different: string[] };
    expect(answer.compared).toBeGreaterThan(10);
    expect(answer.different).toEqual([]);
  });

  it.each<readonly [string, string]>(resolutions)(
    'its types are found with module %s, moduleResolution %s (node-redlock#307)',
    async (module, moduleResolution) => {
      await consumer.tsc('--noEmit', '--module', module, '--moduleResolution', moduleResolution);
    },
  );

  if (name === 'nest11-cjs') {
    it('its Jest loads the library as CommonJS', async () => {
      await consumer.node('node_modules/jest/bin/jest.js', ['--ci']);
    });
  }
});
