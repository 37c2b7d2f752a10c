import { parseArgs } from 'node:util';
import { runNode } from './run.mjs';

/** `npm run fuzz -- [--seed N] [--minutes M]`: processes count under one lease while they are killed, frozen and robbed. */
const { values } = parseArgs({ options: { seed: { type: 'string' }, minutes: { type: 'string', default: '1' } } });
const seed = values.seed ?? String(Math.floor(Math.random() * 1e6));
console.log(`seed ${seed}, ${values.minutes} min`);
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim();
Object.assign(process.env, { LEASE_FUZZ_SEED: seed, LEASE_FUZZ_MINUTES: values.minutes });
process.exit(runNode('node_modules/jest/bin/jest.js', ['--selectProjects', 'chaos', '--', 'test/chaos/fuzz.spec.ts']));
