import { Logger, type DynamicModule, type ExistingProvider, type Provider } from '@nestjs/common';
import { LeaseEvents } from './events/lease-events.js';
import { ClientContext } from './execution/client-context.js';
import { LeaseContext } from './execution/lease-context.js';
import { resolveModuleOptions, type ResolvedModuleOptions } from './lease-module-options-check.js';
import type { LeaseModuleOptions } from './lease-module-options.js';
import { createLeaseRuntime, type LeaseRuntime } from './lease-runtime.js';
import {
  DEFAULT_SERVICE,
  getLeaseClockToken,
  getLeaseEventsToken,
  getLeaseExecutorToken,
  getLeaseOptionsToken,
  getLeaseServiceToken,
  getLeaseStoreToken,
  getScheduledRunsToken,
} from './lease.constants.js';
import { logLeaseEvents } from './service/lease-log.js';
import { LeaseServices } from './service/lease-services.js';
import { LeaseService } from './service/lease.service.js';
import type { LeaseStore } from './stores/lease-store.js';
import { RedisLeaseStore } from './stores/redis/redis-lease-store.js';
import type { Clock } from './time/clock.js';
import { SystemClock } from './time/system-clock.js';

/** Injection token, inside each registration, of the options as they were given. */
export const GIVEN_OPTIONS = 'lease:given-options';

/** Everything one lease service is made of: the only file that knows all rooms. */
export function leaseProviders(name: string, clock: Clock = new SystemClock()): Provider[] {
  const runtime = `lease:runtime:${name}`;
  const options = getLeaseOptionsToken(name);
  const { service, events } = tokensOf(name);
  return [
    { provide: getLeaseClockToken(name), useValue: clock },
    { provide: options, useFactory: (given: LeaseModuleOptions) => resolveModuleOptions(given, name), inject: [GIVEN_OPTIONS] },
    { provide: getLeaseStoreToken(name), useFactory: createStore, inject: [options] },
    { provide: events, useFactory: createEvents },
    {
      provide: runtime,
      useFactory: createRuntime,
      inject: [options, getLeaseStoreToken(name), getLeaseClockToken(name), events, LeaseContext, ClientContext, LeaseServices],
    },
    { provide: getLeaseExecutorToken(name), useFactory: ({ executor }: LeaseRuntime) => executor, inject: [runtime] },
    { provide: service, useFactory: (made: LeaseRuntime) => made.service, inject: [runtime] },
    { provide: getScheduledRunsToken(name), useFactory: (made: LeaseRuntime) => made.scheduledRuns, inject: [runtime] },
    ...aliasesOf(name),
  ];
}

/** What other modules may inject. */
export function leaseExports(name: string): NonNullable<DynamicModule['exports']> {
  const { service, events } = tokensOf(name);
  const aliases = aliasesOf(name).map(({ provide }) => provide);
  return [service, events, ...aliases, getLeaseStoreToken(name), getLeaseExecutorToken(name), getLeaseClockToken(name)];
}

/** The default service is injected by class, the others by name. */
function tokensOf(name: string): { service: string | typeof LeaseService; events: string | typeof LeaseEvents } {
  if (name === DEFAULT_SERVICE) return { service: LeaseService, events: LeaseEvents };
  return { service: getLeaseServiceToken(name), events: getLeaseEventsToken(name) };
}

function aliasesOf(name: string): ExistingProvider[] {
  if (name !== DEFAULT_SERVICE) return [];
  return [
    { provide: getLeaseServiceToken(), useExisting: LeaseService },
    { provide: getLeaseEventsToken(), useExisting: LeaseEvents },
  ];
}

function createStore(options: ResolvedModuleOptions): LeaseStore {
  const { store, connection, namespace, fenceRetentionMs, defaults, durability, amnesiaGuardMs } = options;
  if (store) return store;
  const reached = connection === undefined ? {} : { connection };
  const patienceMs = defaults.commandTimeoutMs;
  return new RedisLeaseStore({ ...reached, namespace, fenceRetentionMs, patienceMs, durability, amnesiaGuardMs });
}

function createEvents(): LeaseEvents {
  const logger = new Logger('Lease');
  const events = new LeaseEvents((error, event) => logger.error(`A listener of the lease event "${event.type}" threw: ${String(error)}`));
  logLeaseEvents(events, logger);
  return events;
}

function createRuntime(
  options: ResolvedModuleOptions,
  store: LeaseStore,
  clock: Clock,
  events: LeaseEvents,
  context: LeaseContext,
  client: ClientContext,
  services: LeaseServices,
): LeaseRuntime {
  const runtime = createLeaseRuntime({ options, store, clock, events, context, client });
  const { name, namespace, connectOnStart, warnings } = options;
  services.add({ name, namespace, connectOnStart, warnings, engine: runtime.engine, registry: runtime.registry });
  return runtime;
}
