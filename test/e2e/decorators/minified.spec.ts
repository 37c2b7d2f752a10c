import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Bundles the small application, runs it, and gives back what it printed. */
async function run(minify: boolean): Promise<unknown> {
  const dir = mkdtempSync(join(root, 'node_modules', '.lease-minified-'));
  try {
    const outfile = join(dir, 'app.mjs');
    await build({
      entryPoints: [join(root, 'test/e2e/decorators/minified-app.ts')],
      outfile,
      bundle: true,
      minify,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
      logLevel: 'error',
    });
    const { stdout, stderr } = spawnSync(process.execPath, [outfile], { encoding: 'utf8', timeout: 60_000 });
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as unknown;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

describe('a minified build', () => {
  it('takes the same keys as the plain one, and refuses at start-up what names in the source would have to fill (sui#892, react-lazy-cache#1)', async () => {
    const [plain, minified] = [(await run(false)) as Record<string, unknown>, (await run(true)) as Record<string, unknown>];
    expect(plain.keys).toEqual(['route:1', 'marked:2', 'own:3', 'property:4', 'position:5:6', 'function:7']);
    expect(minified.keys).toEqual(plain.keys);
    expect(plain.className).toBe('Jobs');
    expect(minified.className).not.toBe('Jobs');
    expect(plain.bySourceName).toBe('source:8:9');
    expect(minified.bySourceName).toMatch(/<tenant> of the key 'source:<tenant>:<account>'.*@LeaseKey\('tenant'\)/);
  });
});
