import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { root, run } from './run.mjs';

const [wanted, ...args] = process.argv.slice(2);
const samples = readdirSync(join(root, 'sample'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(root, 'sample', entry.name, 'main.ts')))
  .map((entry) => entry.name)
  .sort();

/** A sample is found by its number (1 or 01), its name, or both (01-first-lease). */
const found = samples.find((folder) => {
  const [, number, name] = /^(\d+)-(.*)$/.exec(folder) ?? [];
  return folder === wanted || name === wanted || (/^\d+$/.test(wanted ?? '') && Number(number) === Number(wanted));
});

if (!found) {
  console.error(
    `${wanted ? `There is no sample "${wanted}".` : 'Usage: npm run sample -- NAME [--once]'} The samples are: ${samples.join(', ') || 'none yet'}.`,
  );
  process.exit(2);
}

ensureBuilt({ samples: true });
process.exit(run(process.execPath, ['--enable-source-maps', join(root, 'dist-sample', found, 'main.js'), ...args]));
