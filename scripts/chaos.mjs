import { parseArgs } from 'node:util';
import { runNode } from './run.mjs';

/**
 * `npm run chaos -- [--seed N] [--minutes M] [--topology primary|sentinel|cluster|quorum] [--broken]`: clients at work while everything
 * breaks by a schedule that the seed makes. `--broken`: clients that do not ask whether they hold their lease, to see them found out.
 */
const text = { type: 'string' };
const { values } = parseArgs({ options: { seed: text, minutes: text, topology: text, broken: { type: 'boolean' } } });
const { seed = String(Math.floor(Math.random() * 1e6)), minutes = '1', topology = 'primary' } = values;
console.log(`npm run chaos -- --seed ${seed} --minutes ${minutes} --topology ${topology}`);
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim();
Object.assign(process.env, {
  CHAOS_SEED: seed,
  CHAOS_MINUTES: minutes,
  CHAOS_TOPOLOGY: topology,
  ...(values.broken ? { CHAOS_BROKEN: 'yes' } : {}),
});
process.exit(runNode('node_modules/jest/bin/jest.js', ['--selectProjects', 'chaos', '--', 'test/chaos/harness/harness.spec']));
