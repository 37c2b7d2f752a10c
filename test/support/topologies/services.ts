import { afterEach } from '@jest/globals';
import type { LeaseModuleOptions } from '../../../lib/lease-module-options.js';
import { LeaseKeys } from '../../../lib/stores/redis/keys.js';
import type { Lease } from '../../../lib/lease/lease.js';
import { startHolder, type Holder } from '../holder.js';

let counter = 0;

/** Lease services of one spec file, as if each were a process of its own; closed after each test. */
export class Services {
  readonly namespace = 'topology';
  private readonly holders = new Set<Holder>();
  private readonly clients = new Set<{ disconnect(): void }>();

  constructor() {
    afterEach(async () => {
      await Promise.all([...this.holders].map((holder) => holder.close()));
      this.holders.clear();
      for (const client of this.clients) client.disconnect();
      this.clients.clear();
    });
  }

  start(connection: LeaseModuleOptions['connection'], options: Omit<LeaseModuleOptions, 'connection'> = {}): Holder {
    const holder = startHolder({ connection, namespace: this.namespace, ...options });
    this.holders.add(holder);
    return holder;
  }

  /** A client of the user's, closed after the test. */
  client<T extends { disconnect(): void; on(event: 'error', listener: () => void): unknown }>(client: T): T {
    client.on('error', () => undefined);
    this.clients.add(client);
    return client;
  }

  /** A name that no other test uses. */
  key(): string {
    counter += 1;
    return `key-${String(counter)}`;
  }

  /** The Redis key of its lease. */
  leaseKey(key: string): string {
    return new LeaseKeys(this.namespace).of(key)[0];
  }

  /** The Redis key of its line of waiters. */
  queueKey(key: string): string {
    return new LeaseKeys(this.namespace).of(key)[2];
  }
}

/** Fails unless the lease has been renewed, and so is held, after `since` (`performance.now()`). */
export async function renewedSince(holder: Holder, lease: Lease): Promise<void> {
  const before = holder.store.calls('renew').length;
  await lease.renew();
  lease.assertHeld();
  if (holder.store.calls('renew').length <= before) throw new Error('Nothing was renewed.');
}
