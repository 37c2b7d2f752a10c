import { describe, expect, it } from '@jest/globals';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import type { Monitored } from '../waiting/line-model.js';
import { Monitor } from './monitor.js';

describe('MONITOR', () => {
  it('shows each command with its words as they were, tells scripts from clients, and when the server hangs up', async () => {
    const server = await RedisServer.start();
    const seen: Monitored[] = [];
    let closed = false;
    try {
      const monitor = await Monitor.open(
        server,
        (one) => seen.push(one),
        () => (closed = true),
      );
      await server.ask('SET', 'a key', 'with "quotes", \\ and\r\n\u0001\t');
      await server.ask('EVAL', "return redis.call('SET', KEYS[1], ARGV[1], 'PX', 1000)", '1', 'in script', 'x');
      const words = (): string[][] => seen.map(({ args, source }) => [source === 'lua' ? 'lua' : 'client', ...args]);
      await waitFor(() => words().some(([source]) => source === 'lua'));
      expect(words()).toContainEqual(['client', 'SET', 'a key', 'with "quotes", \\ and\r\n\u0001\t']);
      expect(words()).toContainEqual(['lua', 'SET', 'in script', 'x', 'PX', '1000']);
      expect(Math.abs((seen[0]?.at ?? 0) - Date.now())).toBeLessThan(60_000);
      await server.kill();
      await waitFor(() => closed);
      monitor.close();
    } finally {
      await server.stop();
    }
  });
});
