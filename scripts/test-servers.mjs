import { findServers } from '../test/support/find-servers.mjs';
import { runNode } from './run.mjs';

/**
 * `npm run test:servers`: the contract of a store on Redis 7, Redis 8 and Valkey 9, as far as they are there. One that is not is
 * told by name, and counts neither as passed nor as skipped; none at all is a failure.
 */
const servers = findServers();
const found = servers.filter(({ program }) => program);
const args = ['--config', 'jest.servers.config.mjs', '--maxWorkers=2', '--testTimeout=30000', ...process.argv.slice(2)];
const code = found.length === 0 ? 1 : runNode('scripts/test.mjs', args);
for (const { title } of found) console.error(`${title}: run`);
for (const { name, missing } of servers) if (missing) console.error(`${name}: NOT RUN (${missing})`);
process.exit(code);
