import type { RedisServer } from '../redis-server.js';
import { TcpProxy } from '../tcp-proxy.js';

/** A proxy in front of each node, for one client: what the nodes announce is mapped to the proxies (`natMap` of ioredis). */
export class NodeProxies {
  private constructor(private readonly proxies: ReadonlyMap<RedisServer, TcpProxy>) {}

  static async start(nodes: readonly RedisServer[]): Promise<NodeProxies> {
    const proxies = new Map<RedisServer, TcpProxy>();
    for (const node of nodes) proxies.set(node, await TcpProxy.start(node));
    return new NodeProxies(proxies);
  }

  /** For the options of a Cluster of ioredis. */
  get natMap(): Record<string, { host: string; port: number }> {
    const pairs = [...this.proxies].map(([node, { host, port }]) => [`${node.host}:${String(node.port)}`, { host, port }]);
    return Object.fromEntries(pairs) as Record<string, { host: string; port: number }>;
  }

  /** For the option `connection`: a Cluster that is reached through the proxies only. */
  get connection(): { cluster: { nodes: { host: string; port: number }[]; options: { natMap: NodeProxies['natMap'] } } } {
    return { cluster: { nodes: this.all.map(({ host, port }) => ({ host, port })), options: { natMap: this.natMap } } };
  }

  get all(): TcpProxy[] {
    return [...this.proxies.values()];
  }

  of(node: RedisServer): TcpProxy {
    return this.proxies.get(node) as TcpProxy;
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((proxy) => proxy.stop()));
  }
}
