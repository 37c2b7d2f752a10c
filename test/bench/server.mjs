import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findRedisServer } from '../support/find-redis-server.mjs';

/** A server of its own on a free port, without persistence. */
export async function startRedis(program = findRedisServer()) {
  const dir = mkdtempSync(join(tmpdir(), 'lease-bench-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  const child = spawn(program, args, { stdio: 'ignore' });
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { retryStrategy: () => 20 });
  client.on('error', () => undefined);
  await client.ping();
  return {
    url,
    /** For raw commands. */
    client,
    /** Calls of a command since the last `reset()`. */
    async calls(name) {
      const found = new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(await client.info('commandstats'));
      return Number(found?.[1] ?? 0);
    },
    reset: () => client.config('RESETSTAT'),
    /** CPU seconds that the server has used. */
    async cpuSeconds() {
      const info = await client.info('cpu');
      const read = (name) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1] ?? 0);
      return read('used_cpu_sys') + read('used_cpu_user');
    },
    async stop() {
      client.disconnect();
      child.kill('SIGKILL');
      await sleep(20);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
