import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Folder with `initdb` and `postgres`: LEASE_TEST_POSTGRES, else that of the PATH or of the distribution's package, which root on Debian or Ubuntu gets installed. */
export function findPostgres() {
  return find('LEASE_TEST_POSTGRES', 'postgresql', () => {
    const found = program('initdb', postgresFolders());
    return found && dirname(realpathSync(found));
  });
}

/** Path of `mariadbd`: LEASE_TEST_MARIADB, else as for PostgreSQL. */
export function findMariadb() {
  return find('LEASE_TEST_MARIADB', 'mariadb-server-core', () => program('mariadbd', []));
}

function find(variable, debianPackage, look) {
  const named = process.env[variable];
  if (named) return named;
  const found = look() ?? (install(debianPackage), look());
  if (found) return found;
  throw new Error(`These tests need a real server: install ${debianPackage}, or name its place in ${variable}.`);
}

function postgresFolders() {
  const versions = '/usr/lib/postgresql';
  if (!existsSync(versions)) return [];
  return readdirSync(versions)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(versions, version, 'bin'));
}

function program(name, folders) {
  // Debian keeps servers in directories that are not always on a user's PATH.
  const all = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin', ...folders];
  return all.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** One process at a time: the test files run side by side, and the lists of apt cannot be waited for. */
function install(debianPackage) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  // RUNLEVEL=1 makes invoke-rc.d and deb-systemd-invoke leave the new service alone.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = 'apt-get -q update && apt-get -q install -y --no-install-recommends "$0"';
  try {
    execFileSync('flock', [join(tmpdir(), 'lease-tests-apt.lock'), 'sh', '-c', apt, debianPackage], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 300_000,
    });
  } catch (error) {
    throw new Error(`${debianPackage} is missing and could not be installed: ${String(error?.stderr || error)}`, { cause: error });
  }
}
