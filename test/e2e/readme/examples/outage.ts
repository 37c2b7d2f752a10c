import { CurrentLease, injected, isLeaseError, Lease, WithLease } from 'nestjs-lease';
import assert from 'node:assert/strict';

export class Imports {
  @WithLease('import:<id>', { ttl: 30 })
  async run(_id: string, @CurrentLease() lease: Lease = injected()): Promise<string> {
    await new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
    return 'ended by the signal';
  }
}

export async function check({ error }: Record<string, any>): Promise<void> {
  assert.ok(isLeaseError(error, 'LEASE_LOST'), String(error));
  assert.equal(error.reason, 'store');
}
