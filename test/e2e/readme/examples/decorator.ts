import { bindLease, createLeaseService } from 'nestjs-lease/testing';
import assert from 'node:assert/strict';

export async function check({ Accounts }: Record<string, any>): Promise<void> {
  const leases = createLeaseService();
  const accounts = bindLease(new Accounts(), leases);
  const [one, two] = await Promise.all([accounts.settle('7'), accounts.settle('7')]);
  assert.notEqual(one.token, two.token);

  assert.equal(await accounts.sync({ region: 'eu' }), 'synced eu');
  await using _held = await leases.acquire('sync:eu');
  assert.equal(await accounts.sync({ region: 'eu' }), undefined);
  assert.equal(await accounts.sync({ region: 'us' }), 'synced us');
}
