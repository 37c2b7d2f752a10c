import { ensureBuilt } from './build.mjs';
import { runNode } from './run.mjs';

/** `npm run bench -- [--only NAME] [--peers] [--report] [--json FILE] [--rounds N]`: what leases cost, on a Redis of its own. */
ensureBuilt();
process.exit(runNode('test/bench/main.mjs', process.argv.slice(2)));
