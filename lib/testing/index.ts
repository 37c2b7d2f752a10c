export { MemoryLeaseStore, type MemoryLeaseStoreOptions } from '../stores/memory/memory-lease-store.js';
export { bindLease } from './bind-lease.js';
export { createLeaseService } from './create-lease-service.js';
export { FaultyLeaseStore, type StoreCalls, type StoreVerb } from './faulty-lease-store.js';
export type { LeaseTestingOptions } from './lease-testing-options.js';
export { LeaseTestingModule } from './lease-testing.module.js';
export { ManualClock, type ManualClockOptions } from './manual-clock.js';
