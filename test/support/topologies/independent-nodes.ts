import { RedisServer, type RedisServerOptions } from '../redis-server.js';

/** Redis nodes that know nothing of each other. */
export class IndependentNodes {
  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(count: number, options: Omit<RedisServerOptions, 'port'> = {}): Promise<IndependentNodes> {
    return new IndependentNodes(await startServers(Array.from({ length: count }, () => options)));
  }

  /** Where each of them is. */
  get urls(): string[] {
    return this.nodes.map(({ url }) => url);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}

/** Starts servers side by side; when one of them does not start none stays. */
export async function startServers(options: readonly RedisServerOptions[]): Promise<RedisServer[]> {
  const started = await Promise.allSettled(options.map((one) => RedisServer.start(one)));
  const servers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = started.find((one) => one.status === 'rejected');
  if (failed === undefined) return servers;
  await Promise.all(servers.map((server) => server.stop()));
  throw failed.reason;
}
