import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askRedis } from '../../support/ask-redis.js';
import { RedisServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';

describe('the rig', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  const viaProxy = (timeoutMs = 150): Promise<string> => askRedis({ host: proxy.host, port: proxy.port }, ['PING'], timeoutMs);

  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server);
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });

  it('restarts with its data, or empty', async () => {
    await server.ask('SET', 'a', '1');
    await server.restart({ empty: false });
    expect(await server.ask('GET', 'a')).toContain('1');
    await server.kill();
    await expect(server.ask('PING')).rejects.toThrow();
    await server.restart();
    expect(await server.ask('GET', 'a')).toBe('$-1\r\n');
  });

  it('freezes and thaws', async () => {
    server.freeze();
    await expect(viaProxy()).rejects.toThrow('no answer');
    server.thaw();
    expect(await viaProxy(1000)).toBe('+PONG\r\n');
  });

  it('loses requests, or replies only', async () => {
    proxy.drop('reply');
    await expect(askRedis(proxy, ['SET', 'reply', '1'], 150)).rejects.toThrow('no answer');
    proxy.pass().drop('request');
    await expect(askRedis(proxy, ['SET', 'request', '1'], 150)).rejects.toThrow('no answer');
    proxy.pass();
    expect(await server.ask('EXISTS', 'reply')).toBe(':1\r\n');
    expect(await server.ask('EXISTS', 'request')).toBe(':0\r\n');
  });

  it('delays, refuses, and leaves half open', async () => {
    proxy.delay(60, 'reply');
    const start = performance.now();
    expect(await viaProxy(1000)).toBe('+PONG\r\n');
    expect(performance.now() - start).toBeGreaterThanOrEqual(55);
    proxy.pass().refuse();
    await expect(viaProxy()).rejects.toThrow();
    expect(proxy.refused).toBe(1);
    proxy.pass().halfOpen();
    await expect(viaProxy()).rejects.toThrow('no answer');
    proxy.pass();
    expect(await viaProxy(1000)).toBe('+PONG\r\n');
    await waitFor(() => proxy.open === 0);
  });
});
