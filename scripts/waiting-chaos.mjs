import { parseArgs } from 'node:util';
import { runNode } from './run.mjs';

/** `npm run chaos:waiting -- [SECONDS] [--seed N]`: waiters in processes that are killed, frozen and cut off; a minute by default. */
const { values, positionals } = parseArgs({ options: { seed: { type: 'string' } }, allowPositionals: true });
const seed = values.seed ?? String(Math.floor(Math.random() * 1e6));
const seconds = positionals[0] ?? '60';
console.log(`seed ${seed}, ${seconds} s`);
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim();
Object.assign(process.env, { WAITING_CHAOS_SEED: seed, WAITING_CHAOS_SECONDS: seconds });
process.exit(runNode('node_modules/jest/bin/jest.js', ['--selectProjects', 'chaos', '--', 'test/chaos/waiting']));
