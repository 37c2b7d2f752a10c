import { describe, expect, it } from '@jest/globals';
import { defineCron } from '../../../lib/cron/job-definition.js';
import { runInstant } from '../../../lib/cron/job-run.js';
import { JobRunner } from '../../../lib/cron/job-runner.js';
import { LeaseEvents } from '../../../lib/events/lease-events.js';
import { ClientContext } from '../../../lib/execution/client-context.js';
import { LeaseContext } from '../../../lib/execution/lease-context.js';
import { resolveModuleOptions } from '../../../lib/lease-module-options-check.js';
import { createLeaseRuntime } from '../../../lib/lease-runtime.js';
import { RedisLeaseStore } from '../../../lib/stores/redis/redis-lease-store.js';
import type { ClockTimer } from '../../../lib/time/clock.js';
import { SystemClock } from '../../../lib/time/system-clock.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { fastClock, findFaketime } from './faketime.js';

const SPEED = 60;
const INSTANTS = 12;
const library = findFaketime();

/** A machine whose clocks run as fast as that of the store, and are off by `skewMs`. */
class FastClock extends SystemClock {
  private readonly since = Date.now();

  constructor(private readonly skewMs: number) {
    super();
  }
  override monotonic(): number {
    return super.monotonic() * SPEED;
  }
  override wall(): number {
    return this.since + (Date.now() - this.since) * SPEED + this.skewMs;
  }
  override suspended(): undefined {
    return undefined;
  }
  override setTimer(fn: () => void, ms: number): ClockTimer {
    return super.setTimer(fn, ms / SPEED);
  }
}

describe('a Redis whose clock runs 60 times as fast', () => {
  if (library === undefined) {
    it('was NOT RUN: libfaketime is not here, and could not be installed (Debian: apt-get install faketime)', () => {
      process.stderr.write('NOT RUN: scheduled jobs on a Redis with a fast clock, since libfaketime is not here.\n');
    });
    return;
  }

  it('an every-minute job on three replicas runs once for each of its minutes', async () => {
    const server = await RedisServer.start({ env: fastClock(library, SPEED) });
    const stores: RedisLeaseStore[] = [];
    const runners: JobRunner[] = [];
    const ran: number[] = [];
    const job = defineCron('@SingletonCron', '* * * * *', { name: 'job', ttl: '55s', timeZone: 'UTC' });
    for (const skewMs of [0, 3_600_000, -5000]) {
      const clock = new FastClock(skewMs);
      const store = new RedisLeaseStore({ connection: server.url });
      const parts = { store, clock, events: new LeaseEvents(), context: new LeaseContext(), client: new ClientContext() };
      const { scheduledRuns: port, executor } = createLeaseRuntime({ ...parts, options: resolveModuleOptions({ store }) });
      const run = (instant: number) => ({ site: 'Jobs.run', run: () => void ran.push(instant) });
      const runner = new JobRunner({
        ...{ job, port, active: () => true },
        run: (granted, instant) => runInstant(job, run(instant), granted, executor, port, instant),
      });
      runner.open();
      stores.push(store);
      runners.push(runner);
    }
    try {
      await waitFor(() => ran.length >= INSTANTS, { timeoutMs: 60_000, message: `${String(INSTANTS)} runs` });
      const first = ran[0] as number;
      expect(new Set(ran).size).toBe(ran.length);
      // A machine that stands still for a second misses a minute of the fast clock, but runs none twice.
      expect((ran.at(-1) as number) - first).toBeLessThanOrEqual((ran.length + 4) * 60_000);
      expect(first).toBeGreaterThan(Date.now() - 60_000);
    } finally {
      for (const runner of runners) runner.close();
      for (const store of stores) await store.close();
      await server.stop();
    }
  }, 90_000);
});
