import { QuorumLeaseStore } from '../../../lib/quorum-lease-store.js';
import type { LeaseStore } from '../../../lib/stores/lease-store.js';
import type { RedisConnectionOption } from '../../../lib/stores/redis/connection-option.js';
import { RedisLeaseStore } from '../../../lib/stores/redis/redis-lease-store.js';

/** How a client reaches the store; it travels as JSON. `quorum`: the URLs of its nodes. */
export type StoreSpec = { readonly connection: RedisConnectionOption } | { readonly quorum: readonly string[] };

export function makeStore(spec: StoreSpec, namespace: string): LeaseStore {
  if ('connection' in spec) return new RedisLeaseStore({ connection: spec.connection, namespace, patienceMs: 600 });
  return new QuorumLeaseStore(spec.quorum, { namespace, nodeTimeout: '200ms', longestTtl: '2500ms' });
}
