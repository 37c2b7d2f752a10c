import { PGlite } from '@electric-sql/pglite';
import { isLeaseError } from 'nestjs-lease';
import { bindLease, createLeaseService } from 'nestjs-lease/testing';
import assert from 'node:assert/strict';

export const db = new PGlite();
export let handToCarrier = async (_id: string, _signal: AbortSignal): Promise<void> => undefined;

export async function check({ Orders }: Record<string, any>, sql: Readonly<Record<string, string>>): Promise<void> {
  await db.exec(`CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT); INSERT INTO orders VALUES ('7', 'new'); ${sql.migration}`);
  const leases = createLeaseService();
  const orders = bindLease(new Orders(), leases);
  await orders.ship('7');
  assert.deepEqual((await db.query('SELECT status FROM orders')).rows, [{ status: 'shipped' }]);

  // A holder that is overtaken while it is busy with the carrier.
  handToCarrier = async () => {
    await leases.forceRelease('order:7');
    handToCarrier = async () => undefined;
    await bindLease(new Orders(), leases)
      .ship('7')
      .catch(() => undefined);
    await db.query(`UPDATE orders SET fencing_token = fencing_token + 1000000`);
  };
  const error = await orders.ship('7').catch((reason: unknown) => reason);
  const cause = isLeaseError(error, 'FENCING_TOKEN_STALE') ? error : (error as Error).cause;
  assert.ok(isLeaseError(cause, 'FENCING_TOKEN_STALE'), String(error));
  await db.close();
}
