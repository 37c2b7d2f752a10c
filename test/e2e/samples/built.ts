import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../readme/blocks.js';

/** Builds library and samples where they are older than their source. */
export function buildSamples(): void {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-needed', '--samples'], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

/** The program of a sample. */
export const programOf = (sample: string): string => join(root, 'dist-sample', sample, 'main.js');
