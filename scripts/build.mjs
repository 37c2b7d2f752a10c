import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exportsAreCurrent } from './entry-points.mjs';
import { newest, root, runNode } from './run.mjs';

const tsc = 'node_modules/typescript/bin/tsc';
const LAST_OF_LIBRARY = 'dist/cjs/package.json';
const LAST_OF_SAMPLES = 'dist-sample/.built';

/** Two builds of one source: ES modules, and CommonJS for test runners and NestJS 11 applications that cannot load those. */
export function buildLibrary() {
  if (!exportsAreCurrent()) fail('package.json does not list the entry points of lib/ as they are: run "npm run exports".');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  compile('tsconfig.build.json');
  compile('tsconfig.build.cjs.json');
  write(LAST_OF_LIBRARY, '{ "type": "commonjs" }\n');
}

/** The samples import the built package by its name, as a user does. */
export function buildSamples() {
  compile('tsconfig.sample.json');
  write(LAST_OF_SAMPLES, '');
}

/** Builds what is older than its source. */
export function ensureBuilt({ samples = false } = {}) {
  const settings = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.build.cjs.json'];
  if (builtAt(LAST_OF_LIBRARY) < newest('lib', ...settings)) buildLibrary();
  if (!samples) return;
  const needed = Math.max(builtAt(LAST_OF_LIBRARY), newest('sample', 'tsconfig.sample.json'));
  if (builtAt(LAST_OF_SAMPLES) < needed) buildSamples();
}

function compile(project) {
  const code = runNode(tsc, ['-p', project]);
  if (code !== 0) fail(`"tsc -p ${project}" failed.`);
}

function write(file, text) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

/** When a build was finished: its last file tells. */
const builtAt = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;

function fail(message) {
  console.error(message);
  process.exit(1);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const samples = process.argv.includes('--samples');
  if (process.argv.includes('--if-needed')) {
    ensureBuilt({ samples });
  } else {
    buildLibrary();
    if (samples) buildSamples();
  }
}
