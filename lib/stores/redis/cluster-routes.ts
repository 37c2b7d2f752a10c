import { addressOf } from './greeter.js';
import type { RedisClient } from './redis-client.js';
import { isReply, messageOf } from './redis-errors.js';
import { slotOf } from './slots.js';

/** The server that serves a key, by the client that reaches it, and the name under which it is known. */
export interface Route {
  readonly address: string;
  readonly node: RedisClient;
}

/** Where a key is served; `undefined` while nobody knows. `key` has its prefix already. */
export function routeOf(client: RedisClient, key: string): Route | undefined {
  if (!client.isCluster) return { address: '', node: client };
  const address = client.slots?.[slotOf(key)]?.[0];
  const node = address === undefined ? undefined : nodeAt(client, address);
  return address === undefined || node === undefined ? undefined : { address, node };
}

/** The client of a Cluster's primary. */
export function nodeAt(client: RedisClient, address: string): RedisClient | undefined {
  return client.nodes?.('master').find((node) => addressOf(node) === address);
}

/** Asks a Cluster anew who serves what. Never rejects. */
export function refreshRoutes(client: RedisClient): Promise<void> {
  return new Promise((resolve) => {
    if (client.refreshSlotsCache) client.refreshSlotsCache(() => resolve());
    else resolve();
  });
}

/** An error that says: elsewhere, or not yet. */
export function isMoving(error: unknown): boolean {
  if (isReply(error)) return /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|READONLY|LOADING)\b/.test(messageOf(error));
  return /connection is closed|ECONNRESET|ECONNREFUSED|not ready/i.test(messageOf(error));
}
