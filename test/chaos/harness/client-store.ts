import type { LeaseStore } from '../../../lib/stores/lease-store.js';
import type { RedisConnectionOption } from '../../../lib/stores/redis/connection-option.js';
import { RedisLeaseStore } from '../../../lib/stores/redis/redis-lease-store.js';

/** How a client reaches the store; it travels as JSON. */
export interface StoreSpec {
  readonly connection: RedisConnectionOption;
}

export function makeStore({ connection }: StoreSpec, namespace: string): LeaseStore {
  return new RedisLeaseStore({ connection, namespace, patienceMs: 600 });
}
