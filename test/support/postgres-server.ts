import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { DatabaseProcess } from './database-process.js';
import { findPostgres } from './find-database-server.mjs';
import { freePort } from './redis-server.js';

/** A real PostgreSQL on a loopback port. */
export interface PostgresServer {
  readonly config: { readonly host: string; readonly port: number; readonly user: string; readonly database: string };
  stop(): Promise<void>;
}

/** Starts one with a fresh cluster; about a second. */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = findPostgres();
  const port = await freePort();
  const config = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' };
  // initdb and postgres refuse to run as root.
  const uid = process.getuid?.() === 0 ? Number(execFileSync('id', ['-u', 'postgres'])) : undefined;
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: 120,
    deadlock_timeout: '100ms',
  };
  const server = await DatabaseProcess.start({
    program: join(bin, 'postgres'),
    uid,
    // Immediate shutdown: the postmaster takes its children and shared memory with it.
    endBy: 'SIGQUIT',
    prepare: (dir) => {
      const args = ['-D', join(dir, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
      execFileSync(join(bin, 'initdb'), args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'], uid });
    },
    args: (dir) => ['-D', join(dir, 'data'), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    ready: async () => {
      const client = new pg.Client(config);
      await client.connect();
      await client.end();
    },
  });
  return { config, stop: () => server.stop() };
}
