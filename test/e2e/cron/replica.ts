import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import type { LeaseEvent, LeaseEventType } from '../../../lib/events/lease-event.js';
import { LeaseEvents, LeaseService, SingletonJobs, type LeaseStore } from '../../../lib/index.js';
import { MemoryLeaseStore } from '../../../lib/stores/memory/memory-lease-store.js';
import { FaultyLeaseStore } from '../../../lib/testing/faulty-lease-store.js';
import { LeaseTestingModule } from '../../../lib/testing/lease-testing.module.js';
import { ManualClock } from '../../../lib/testing/manual-clock.js';
import type { Clock } from '../../../lib/time/clock.js';
import { CapturedLog, startNest } from '../../support/nest-app.js';

const OF_CRON: readonly LeaseEventType[] = ['skipped', 'run-failed', 'instant-missed', 'instant-unavailable', 'schedule-mismatch', 'lost'];

export interface ReplicaOptions {
  readonly clock?: ManualClock;
  /** How this replica sees the clock, when it is off. */
  readonly view?: Partial<Clock>;
  readonly store?: LeaseStore;
  readonly metadata?: Pick<ModuleMetadata, 'imports' | 'controllers'>;
  readonly schedule?: boolean;
}

/** A booted application with scheduled jobs, whose time the test moves. */
export interface Replica {
  readonly app: INestApplication;
  readonly clock: ManualClock;
  readonly store: LeaseStore;
  readonly log: CapturedLog;
  readonly events: LeaseEvent[];
  readonly leases: LeaseService;
  readonly jobs: SingletonJobs;
  readonly registry: SchedulerRegistry;
}

/** At 2026-03-10 12:00:00.300 UTC by default. */
export const newClock = (iso = '2026-03-10T12:00:00.300Z'): ManualClock => new ManualClock({ wall: Date.parse(iso) });

export async function startReplica(providers: ModuleMetadata['providers'], options: ReplicaOptions = {}): Promise<Replica> {
  const { clock = newClock(), schedule = true, metadata = {} } = options;
  const store = options.store ?? new FaultyLeaseStore(new MemoryLeaseStore({ clock }), { clock });
  const log = new CapturedLog();
  const imports = [
    LeaseTestingModule.forRoot({ clock: viewed(clock, options.view), store }),
    ...(schedule ? [ScheduleModule.forRoot()] : []),
    ...(metadata.imports ?? []),
  ];
  const { app } = await startNest({ ...metadata, imports, ...(providers ? { providers } : {}) }, { listen: false, logger: log });
  const events: LeaseEvent[] = [];
  for (const type of OF_CRON) app.get(LeaseEvents).on(type, (event) => events.push(event));
  await clock.advanceAsync(20);
  const registry = schedule ? app.get(SchedulerRegistry, { strict: false }) : (undefined as never);
  return { app, clock, store, log, events, leases: app.get(LeaseService), jobs: app.get(SingletonJobs, { strict: false }), registry };
}

const viewed = (clock: ManualClock, view: Partial<Clock> = {}): Clock => ({
  monotonic: () => clock.monotonic(),
  wall: () => clock.wall(),
  suspended: () => clock.suspended(),
  setTimer: (fn, ms) => clock.setTimer(fn, ms),
  ...view,
});

/** Instants of the events of one type, as `hh:mm:ss`. */
export const instantsOf = (events: readonly LeaseEvent[], type: LeaseEventType): string[] =>
  events.filter((event) => event.type === type).map((event) => timeOf((event as { instant: number }).instant));

export const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 19);
