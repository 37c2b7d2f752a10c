import { runNode } from './run.mjs';

/** `npm run chaos:cron -- [SECONDS]`: every-second jobs on three processes with shifted clocks, killed and frozen; a minute by default. */
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim();
process.env.CRON_CHAOS_SECONDS = process.argv[2] ?? '60';
process.exit(runNode('node_modules/jest/bin/jest.js', ['--selectProjects', 'chaos', '--verbose', '--', 'test/chaos/cron']));
