import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAME = 'redis-server';

/**
 * Path of a `redis-server` program: LEASE_TEST_REDIS, else the one on the PATH, else (root on Debian or Ubuntu) that of the
 * distribution's package, which is installed without starting its service.
 * @returns {string}
 */
export function findRedisServer() {
  const named = process.env.LEASE_TEST_REDIS;
  if (named) {
    if (isProgram(named)) return named;
    throw new Error(`LEASE_TEST_REDIS is ${named}, which is not a program that can be run.`);
  }
  const found = onPath() ?? installed();
  if (found) return found;
  throw new Error('These tests need a real Redis: put redis-server on the PATH, or name the program in LEASE_TEST_REDIS.');
}

function onPath() {
  // Debian keeps servers in directories that are not always on a user's PATH.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin'];
  return folders.map((folder) => join(folder, NAME)).find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installed() {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined;
  // RUNLEVEL=1 makes invoke-rc.d and deb-systemd-invoke leave the new service alone: nothing of it may answer on port 6379.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = (...args) => execFileSync('apt-get', ['-q', ...args], { env, stdio: ['ignore', 'ignore', 'pipe'], timeout: 300_000 });
  try {
    apt('update');
    apt('install', '-y', '--no-install-recommends', '-o', 'Dpkg::Options::=--force-confdef', NAME);
  } catch (error) {
    throw new Error(`redis-server is missing and could not be installed: ${String(error?.stderr || error)}`, { cause: error });
  }
  return onPath();
}
