import { execFileSync } from 'node:child_process';
import { findRedisServer } from './find-redis-server.mjs';

/** The servers on which every store over Redis must keep its contract, and where they are told to be. */
const SERVERS = [
  { name: 'Redis 7', variable: 'LEASE_TEST_REDIS', is: /^Redis server v=7\./, fallback: findRedisServer },
  { name: 'Redis 8', variable: 'LEASE_TEST_REDIS_8', is: /^Redis server v=8\./ },
  { name: 'Valkey 9', variable: 'LEASE_TEST_VALKEY', is: /^Valkey server v=9\./ },
];

/**
 * What each of them is here: `program` and `title` (with its version) where it is there, else `missing`, the reason.
 * A program that is named and is not the server that it should be is an error, since its tests would say nothing.
 * @returns {{ name: string, program?: string, title?: string, missing?: string }[]}
 */
export function findServers() {
  return SERVERS.map(({ name, variable, is, fallback }) => {
    const program = process.env[variable] || fallback?.();
    if (!program) return { name, missing: `name its program in ${variable}` };
    const said = execFileSync(program, ['--version'], { encoding: 'utf8', timeout: 20_000, stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const [, version] = /v=([\d.]+)/.exec(said) ?? [];
    if (is.test(said)) return { name, program, title: `${name.replace(/ \d+$/, '')} ${version}` };
    if (process.env[variable]) throw new Error(`${variable} is ${program}, which is not ${name}: it says "${said.slice(0, 60)}".`);
    return { name, missing: `${program} is "${said.slice(0, 40)}"; name its program in ${variable}` };
  });
}
