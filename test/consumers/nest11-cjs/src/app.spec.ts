import { Test } from '@nestjs/testing';
import { LEASE_STORE, LeaseService, MemoryLeaseStore } from 'nestjs-lease';
import { AppModule, Reports } from './app.js';

it('runs in the Jest of a NestJS 11 project', async () => {
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(LEASE_STORE)
    .useValue(new MemoryLeaseStore())
    .compile();
  const reports = testing.get(Reports);
  expect(reports.leases).toBe(testing.get(LeaseService));
  expect(await reports.write('7')).toBe('7:number');
  await testing.close();
});
