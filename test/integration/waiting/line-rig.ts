import type { Lease } from '../../../lib/lease/lease.js';
import { LeaseKeys } from '../../../lib/stores/redis/keys.js';
import { AttackRig } from '../../support/attack-rig.js';
import type { Holder } from '../../support/holder.js';
import { waitFor } from '../../support/wait-for.js';

/** Every call that waits, in the order in which they joined the line, and the order in which they were served. */
export class LineRig extends AttackRig {
  /** Length of the line in Redis. */
  lengthOf(key: string): Promise<number> {
    return this.client.zcard(new LeaseKeys('attack').of(key)[2]);
  }

  /** One more in the line, in `waiting`; comes back when it has its place. */
  async join(holder: Holder, key: string, waiting: Promise<Lease>[], onServed: () => unknown = () => undefined): Promise<void> {
    const before = await this.lengthOf(key);
    const lease = holder.service.acquire(key, { ttl: 30, wait: 60 });
    waiting.push(lease);
    lease.then(onServed, () => undefined);
    await waitFor(async () => (await this.lengthOf(key)) > before, { message: 'one more waiter in the line' });
  }

  /** Round trips of stores since `CONFIG RESETSTAT`, SUBSCRIBE included. */
  async roundTrips(): Promise<number> {
    const stats = (await this.client.info('commandstats')).matchAll(/cmdstat_(evalsha|eval|subscribe|ping|hello|info):calls=(\d+)/g);
    return [...stats].reduce((sum, [, name, calls]) => sum + (name === 'info' ? 0 : Number(calls)), 0);
  }

  resetStats(): Promise<unknown> {
    return this.client.config('RESETSTAT');
  }
}

/** Releases one after the other as they are granted, in whichever order. */
export function releaseEach(waiting: readonly Promise<Lease>[], holdMs = 0): Promise<unknown> {
  return Promise.all(
    waiting.map(async (one) => {
      const lease = await one;
      if (holdMs > 0) await new Promise((resolve) => setTimeout(resolve, holdMs));
      return lease.release();
    }),
  );
}

export const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
