import { Redis } from 'ioredis';
import { defineCron } from '../../../lib/cron/job-definition.js';
import { runInstant } from '../../../lib/cron/job-run.js';
import { JobRunner } from '../../../lib/cron/job-runner.js';
import { LeaseEvents } from '../../../lib/events/lease-events.js';
import { ClientContext } from '../../../lib/execution/client-context.js';
import { LeaseContext } from '../../../lib/execution/lease-context.js';
import { resolveModuleOptions } from '../../../lib/lease-module-options-check.js';
import { createLeaseRuntime } from '../../../lib/lease-runtime.js';
import { RedisLeaseStore } from '../../../lib/stores/redis/redis-lease-store.js';
import { SystemClock } from '../../../lib/time/system-clock.js';

/** How a replica is started. */
interface ReplicaSettings {
  readonly name: string;
  readonly url: string;
  /** Its wall clock less that of the machine. */
  readonly skewMs: number;
  readonly onCrash: 'skip' | 'rerun';
}

const settings = JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings;

class SkewedClock extends SystemClock {
  override wall(): number {
    return super.wall() + settings.skewMs;
  }
}

const clock = new SkewedClock();
const journal = new Redis(settings.url);
const store = new RedisLeaseStore({ connection: settings.url });
const events = new LeaseEvents();
for (const type of ['instant-missed', 'instant-unavailable', 'run-failed'] as const)
  events.on(type, (event) => process.send?.({ ...event }));
const options = resolveModuleOptions({ store, holder: settings.name });
const runtime = createLeaseRuntime({ options, store, clock, events, context: new LeaseContext(), client: new ClientContext() });
const job = defineCron('@SingletonCron', '* * * * * *', { name: 'job', ttl: '800ms', timeZone: 'UTC', onCrash: settings.onCrash });
const { scheduledRuns: port, executor } = runtime;

new JobRunner({
  ...{ job, port, active: () => true },
  run: (granted, instant) => {
    const work = async (): Promise<void> => {
      await journal.rpush('began', `${String(instant)} ${String(granted.fencingToken)} ${settings.name}`);
      await new Promise((resolve) => setTimeout(resolve, 60));
      // What is written after the lease was lost would be refused by its fencing token.
      if (!granted.lease.signal.aborted)
        await journal.rpush('ended', `${String(instant)} ${String(granted.fencingToken)} ${settings.name}`);
    };
    return runInstant(job, { site: 'Jobs.run', run: work }, granted, executor, port, instant);
  },
}).open();

process.send?.({ type: 'open' });
