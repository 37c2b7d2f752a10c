import { afterAll, beforeAll } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisLeaseStore } from '../../../lib/stores/redis/redis-lease-store.js';
import type { RedisLeaseStoreOptions } from '../../../lib/stores/redis/redis-store-options.js';
import type { AcquireRequest, Granted } from '../../../lib/stores/lease-store.js';
import { RedisServer, type RedisServerOptions } from '../../support/redis-server.js';

export { errorOf } from '../../support/rejection.js';

let counter = 0;

/** A request of a new holder, for a new key unless one is given. */
export function ask(key?: string, more: Partial<AcquireRequest> = {}): AcquireRequest {
  counter += 1;
  const n = String(counter);
  return { key: key ?? `key-${n}`, holderId: `secret-${n}`, holderTag: `tag-${n}`, holder: `host:${n}`, ttlMs: 30_000, ...more };
}

export type Held = AcquireRequest & { readonly fencingToken: number };

/** Acquires for a new holder. */
export async function take(store: RedisLeaseStore, key?: string, more: Partial<AcquireRequest> = {}): Promise<Held> {
  const request = ask(key, more);
  const result = await store.acquire(request);
  if (result.kind !== 'granted') throw new Error(`Expected a grant, got ${JSON.stringify(result)}`);
  return { ...request, fencingToken: (result satisfies Granted).fencingToken };
}

/** One server for the file, a client to look at it, and stores that are closed in the end. */
export class Rig {
  server!: RedisServer;
  client!: Redis;
  private readonly stores: RedisLeaseStore[] = [];
  private readonly clients: { status: string; disconnect(): void }[] = [];

  constructor(options: RedisServerOptions = {}) {
    beforeAll(async () => {
      this.server = await RedisServer.start(options);
      // ioredis keeps a timer for so long when it is closed while it reconnects, as it does where a password is asked for.
      this.client = new Redis(this.server.url, { disconnectTimeout: 50 });
      this.client.on('error', () => undefined);
    });
    afterAll(async () => {
      await Promise.all(this.stores.map((store) => store.close()));
      // Also those of a test that failed: a client left open would keep Jest from ending.
      for (const client of [this.client, ...this.clients]) if (client.status !== 'end') client.disconnect();
      await this.server.stop();
    });
  }

  store(options: RedisLeaseStoreOptions = {}): RedisLeaseStore {
    const store = new RedisLeaseStore({ connection: this.server.url, ...options });
    this.stores.push(store);
    return store;
  }

  /** A client of the user's, closed at the end at the latest. */
  track<T extends { status: string; disconnect(): void }>(client: T): T {
    this.clients.push(client);
    return client;
  }

  /** Calls of each command since `CONFIG RESETSTAT`, in scripts too. */
  async commands(): Promise<Record<string, number>> {
    const lines = (await this.client.info('commandstats')).matchAll(/cmdstat_(\S+):calls=(\d+)/g);
    return Object.fromEntries([...lines].map(([, name, calls]) => [name as string, Number(calls)]));
  }

  /** Connections of stores that are open now. */
  async connections(name = 'nestjs-lease'): Promise<string[]> {
    const list = String(await this.client.client('LIST'));
    return list.split('\n').filter((line) => line.includes(`name=${name} `));
  }
}
