import { Module, type DynamicModule } from '@nestjs/common';
import { registration } from '../lease.module-definition.js';
import { DEFAULT_SERVICE, getLeaseClockToken } from '../lease.constants.js';
import { GIVEN_OPTIONS } from '../lease.providers.js';
import { MemoryLeaseStore } from '../stores/memory/memory-lease-store.js';
import { SystemClock } from '../time/system-clock.js';
import type { LeaseTestingOptions } from './lease-testing-options.js';

/** Stands in for `LeaseModule` in a test: leases in memory, no connection, and the time of your clock. */
@Module({})
export class LeaseTestingModule {
  /** `name`: stands in for the service of this name. */
  static forRoot({
    clock = new SystemClock(),
    store,
    name = DEFAULT_SERVICE,
  }: LeaseTestingOptions & { readonly name?: string } = {}): DynamicModule {
    const given = { store: store ?? new MemoryLeaseStore({ clock }) };
    const definition = registration({ module: LeaseTestingModule, providers: [{ provide: GIVEN_OPTIONS, useValue: given }] }, { name });
    // The later of two providers of one token counts.
    return { ...definition, providers: [...(definition.providers ?? []), { provide: getLeaseClockToken(name), useValue: clock }] };
  }
}
