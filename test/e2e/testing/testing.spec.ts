import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CurrentLease,
  FencingToken,
  injected,
  InjectLeaseService,
  Lease,
  LEASE_STORE,
  LeaseService,
  WithLease,
} from '../../../lib/index.js';
import {
  bindLease,
  createLeaseService,
  FaultyLeaseStore,
  LeaseTestingModule,
  ManualClock,
  MemoryLeaseStore,
} from '../../../lib/testing/index.js';

@Injectable()
class Reports {
  @WithLease('report:<id>', { ttl: 10 })
  async nightly(id: string, @FencingToken() token: number = injected(), @CurrentLease() lease: Lease = injected()): Promise<unknown[]> {
    return Promise.resolve([id, token === lease.fencingToken, lease.key]);
  }

  @WithLease('report:long', { ttl: 10, service: 'billing' })
  async long(): Promise<string> {
    return Promise.resolve('billing');
  }
}

describe('testing an application', () => {
  it('LeaseTestingModule stands in for LeaseModule, on the clock of the test', async () => {
    const clock = new ManualClock();
    const module = await Test.createTestingModule({
      imports: [LeaseTestingModule.forRoot({ clock }), LeaseTestingModule.forRoot({ name: 'billing' })],
      providers: [Reports],
    }).compile();
    await module.init();
    const leases = module.get(LeaseService);
    expect(await module.get(Reports).nightly('7')).toEqual(['7', true, 'report:7']);
    expect(await module.get(Reports).long()).toBe('billing');
    const lease = await leases.acquire('k', { ttl: 10, maxHold: 60 });
    await clock.advanceAsync(59_000);
    lease.assertHeld();
    await clock.advanceAsync(2000);
    expect(() => lease.assertHeld()).toThrow(/maxHold/);
    await lease.release();
    await module.close();
  });

  it('takes a store whose calls go wrong', async () => {
    const clock = new ManualClock();
    const store = new FaultyLeaseStore(new MemoryLeaseStore({ clock }), { clock });
    const module = await Test.createTestingModule({ imports: [LeaseTestingModule.forRoot({ clock, store })] }).compile();
    expect(module.get(LEASE_STORE)).toBe(store);
    store.fail('acquire', new Error('ECONNRESET'));
    await expect(module.get(LeaseService).acquire('k')).rejects.toMatchObject({ code: 'LEASE_UNAVAILABLE' });
    await module.close();
  });

  it('bindLease binds an instance that nobody injected, without Nest (nestjs-cls#224, nestjs-saop#31)', async () => {
    await expect(new Reports().nightly('7')).rejects.toThrow(/bindLease/);
    const leases = createLeaseService();
    const reports = bindLease(bindLease(new Reports(), leases), createLeaseService(), 'billing');
    expect(await reports.nightly('7')).toEqual(['7', true, 'report:7']);
    expect(await reports.long()).toBe('billing');
    await using _lease = await leases.acquire('report:7');
    await expect(reports.nightly('7')).rejects.toMatchObject({ code: 'LEASE_BUSY' });
  });

  it('a service by name may be injected in its stand-in, too', async () => {
    @Injectable()
    class Billing {
      constructor(@InjectLeaseService('billing') readonly leases: LeaseService) {}
    }
    const module = await Test.createTestingModule({
      imports: [LeaseTestingModule.forRoot({ name: 'billing' })],
      providers: [Billing],
    }).compile();
    expect(await module.get(Billing).leases.withLease('k', ({ key }) => key)).toBe('k');
    await module.close();
  });
});
