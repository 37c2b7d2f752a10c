import { describe, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { CurrentLease, FencingToken, Lease, LeaseEvents, LeaseModule, MemoryLeaseStore, WithLease } from '../../../lib/index.js';
import { MemoryFencingGuard } from '../../../lib/fencing/index.js';
import { startNest } from '../../support/nest-app.js';

const guard = new MemoryFencingGuard();

@Controller()
class Rows {
  @Post('write')
  @WithLease('row')
  async write(@CurrentLease() lease: Lease): Promise<void> {
    await guard.accept('row', lease.fencingToken + 1, 'newer');
    await guard.write('row', lease, () => 'written');
  }

  @Post('accept')
  @WithLease('row')
  async accept(@FencingToken() token: number, @CurrentLease() { holderTag }: Lease): Promise<void> {
    await guard.accept('row', token + 1, 'newer');
    await guard.accept('row', token, holderTag);
  }
}

describe('a handler whose write the row refused', () => {
  it.each(['write', 'accept'])('has lost its lease, and its client learns that it was interrupted (%s)', async (path) => {
    const { app, url } = await startNest({ imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })], controllers: [Rows] });
    const lost: unknown[] = [];
    app.get(LeaseEvents).on('lost', (event) => lost.push(event));
    const answer = await fetch(`${url}/${path}`, { method: 'POST' });
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'LEASE_LOST' }]);
    expect(lost).toMatchObject([{ key: 'row', reason: 'fenced' }]);
    await app.close();
  });
});
