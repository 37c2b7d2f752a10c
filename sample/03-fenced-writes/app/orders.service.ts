import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as work } from 'node:timers/promises';
import { CurrentLease, injected, Lease, WithLease } from 'nestjs-lease';
import { fencedUpdate } from 'nestjs-lease/fencing';
import { DATABASE, ORDERS, type Database } from './database.js';

@Injectable()
export class OrdersService {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** One worker ships an order at a time. Gives the fencing token it was written with. */
  @WithLease('order:<id>', { ttl: 1, wait: 10 })
  async ship(id: string, by: string, @CurrentLease() lease: Lease = injected()): Promise<number> {
    await work(20, undefined, { signal: lease.signal });
    lease.assertHeld();
    // However long this worker pauses here: the row has the last word.
    await fencedUpdate(this.database, { table: ORDERS, where: { id }, set: { shipped_by: by }, lease });
    return lease.fencingToken;
  }

  /** The same with a plain UPDATE: what a lease is worth when nobody checks its token. */
  @WithLease('order:<id>', { ttl: 1, wait: 10 })
  async shipUnchecked(id: string, by: string, @CurrentLease() lease: Lease = injected()): Promise<number> {
    await work(20, undefined, { signal: lease.signal });
    lease.assertHeld();
    await this.database.query(`UPDATE ${ORDERS} SET shipped_by = $1 WHERE id = $2`, [by, id]);
    return lease.fencingToken;
  }
}
