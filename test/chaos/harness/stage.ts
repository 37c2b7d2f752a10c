import { Redis } from 'ioredis';
import type { RedisServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import type { StoreSpec } from './client-store.js';
import type { Fault, FaultKind } from './schedule.js';

/** What a topology tells of its faults: the store may have forgotten something while this lasted. */
export type TellAmnesia = (kind: string, from: number, until: number, key?: string) => void;

/** A node was started again, and without its data where `lostAt` is given: it is watched again when this resolves. */
export type Rewatch = (node: number, lostAt?: number) => Promise<void>;

/** The servers of a topology, and a way to each of them for each client. */
export interface Stage {
  readonly nodes: readonly RedisServer[];
  /** What can be done to this topology, besides what can be done to any. */
  readonly kinds: readonly FaultKind[];
  /** So many nodes must hold a lease. */
  readonly votes: number;
  /** The order of the line is one node's business, and this one's nodes never change. */
  readonly ordered: boolean;
  /** A node that is frozen may be replaced by another. */
  readonly failsOver: boolean;
  /** Scheduled jobs are kept in it. */
  readonly cron: boolean;
  /** The proxies between one client and all nodes. */
  links(client: number): readonly TcpProxy[];
  store(client: number): StoreSpec;
  /** One of `kinds`; resolves when it is over. `key` is that of some lease in Redis. */
  strike(fault: Fault, key: string): Promise<void>;
  /** Every node runs, and they agree. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

/** A proxy for each client and node. */
export async function link(nodes: readonly RedisServer[], clients: number): Promise<TcpProxy[][]> {
  return Promise.all(Array.from({ length: clients }, () => Promise.all(nodes.map((node) => TcpProxy.start(node)))));
}

/** For ioredis: the way to the nodes of these ports (as they are known to each other) leads through these proxies. */
export function natMapOf(ports: readonly string[], proxies: readonly TcpProxy[]): Record<string, { host: string; port: number }> {
  return Object.fromEntries(proxies.map(({ host, port }, i) => [`127.0.0.1:${ports[i] as string}`, { host, port }]));
}

/** One command on every node that answers. */
export async function onAll(nodes: readonly RedisServer[], ...args: [string, ...string[]]): Promise<void> {
  await Promise.allSettled(nodes.filter(({ responsive }) => responsive).map((node) => node.ask(...args)));
}

/** Keys of a namespace without a ttl, on every node that answers. */
export async function endlessKeys(nodes: readonly RedisServer[], namespace: string): Promise<string[]> {
  const found = await Promise.allSettled(nodes.filter(({ responsive }) => responsive).map((node) => endlessOn(node, namespace)));
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

async function endlessOn(node: RedisServer, namespace: string): Promise<string[]> {
  const client = new Redis({ host: node.host, port: node.port, maxRetriesPerRequest: 0, commandTimeout: 2000, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    const endless: string[] = [];
    for (const key of await client.keys(`${namespace}:*`)) if ((await client.pttl(key)) === -1) endless.push(key);
    return endless;
  } finally {
    client.disconnect();
  }
}
