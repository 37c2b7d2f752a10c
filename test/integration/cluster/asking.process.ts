import { startHolder } from '../../support/holder.js';
import type { RedisConnectionOption } from '../../../lib/stores/redis/connection-option.js';

/** A program that takes a lease, and does nothing about rejections that nobody handles: Node ends it then. */
const { connection, key } = JSON.parse(process.argv[2] as string) as { connection: RedisConnectionOption; key: string };
const holder = startHolder({ connection, namespace: 'asking', commandTimeout: '1s' });

async function main(): Promise<void> {
  process.send?.({ type: 'ready' });
  // A new lease has to wait for the end of the migration.
  for (;;) {
    const lease = await holder.service.acquire(key, { ttl: '30s' }).catch(() => undefined);
    if (lease) return void process.send?.({ type: 'granted', token: lease.fencingToken });
    process.send?.({ type: 'refused' });
  }
}

void main();
