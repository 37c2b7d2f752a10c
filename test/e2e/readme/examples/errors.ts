import { WithLease } from 'nestjs-lease';
import { bindLease, createLeaseService } from 'nestjs-lease/testing';
import assert from 'node:assert/strict';

class Accounts {
  @WithLease('account:<id>', { ttl: '1s' })
  async settle(id: string): Promise<string> {
    if (id === 'slow') await leases.forceRelease('account:slow');
    if (id === 'slow') await leases.current()?.lost;
    return `settled ${id}`;
  }
}
const leases = createLeaseService();
export const accounts = bindLease(new Accounts(), leases);

export async function check({ tryToSettle }: Record<string, any>): Promise<void> {
  assert.equal(await tryToSettle('7'), 'settled 7');
  await using _held = await leases.acquire('account:7', { ttl: 10 });
  assert.match(await tryToSettle('7'), /^held by \S+:\d+, try in \d+ ms$/);
  assert.match(await tryToSettle('slow'), /^not known to be complete \(expired\)$/);
}
