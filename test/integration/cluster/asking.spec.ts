import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { join } from 'node:path';
import { TestProcess } from '../../support/process.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { RedisCluster } from '../../support/topologies/redis-cluster.js';
import { waitFor } from '../../support/wait-for.js';

jest.setTimeout(60_000);

describe('a slot that moves to a node whose connections break', () => {
  let cluster: RedisCluster;
  let client: TestProcess | undefined;
  const proxies: TcpProxy[] = [];
  beforeEach(async () => {
    cluster = await RedisCluster.start({ primaries: 2, replicas: 0 });
    for (const node of cluster.nodes) proxies.push(await TcpProxy.start(node));
  });
  afterEach(async () => {
    await client?.kill();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await cluster?.stop();
  });

  it('ends no process: what ioredis does not look at is no unhandled rejection', async () => {
    const migration = await cluster.migration('asking:{key}');
    await migration.begin();
    let broken = 0;
    for (const proxy of proxies) proxy.commands(([name = '']) => (name.toUpperCase() === 'ASKING' && broken++ < 2 ? 'reset' : 'pass'));
    const natMap = Object.fromEntries(cluster.nodes.map(({ port }, i) => [`127.0.0.1:${String(port)}`, address(proxies[i] as TcpProxy)]));
    const connection = { cluster: { nodes: proxies.map(address), options: { natMap } } };
    client = new TestProcess(join(import.meta.dirname, 'asking.process.ts'), { connection, key: 'key' });
    await client.message('ready', { timeoutMs: 30_000 });
    await waitFor(() => broken >= 1, { timeoutMs: 20_000, message: 'a connection that broke at ASKING' });
    await client.message('refused', { timeoutMs: 20_000 });
    await migration.end();
    expect(await client.message('granted', { timeoutMs: 20_000 })).toMatchObject({ type: 'granted' });
    expect(client.running).toBe(true);
  });
});

const address = ({ host, port }: TcpProxy): { host: string; port: number } => ({ host, port });
