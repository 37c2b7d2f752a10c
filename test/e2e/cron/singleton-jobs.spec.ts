import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Cron, type SchedulerRegistry } from '@nestjs/schedule';
import { LeaseShutdownError, MemoryLeaseStore, SingletonCron, type Lease } from '../../../lib/index.js';
import { newClock, startReplica, timeOf, type Replica } from './replica.js';

type CronJob = ReturnType<SchedulerRegistry['getCronJob']>;

let replicas: Replica[] = [];
const start = async (...args: Parameters<typeof startReplica>): Promise<Replica> => {
  const replica = await startReplica(...args);
  replicas.push(replica);
  return replica;
};

afterEach(async () => {
  await Promise.all(replicas.map(({ app }) => app.close()));
  replicas = [];
});

@Injectable()
class Plain {
  @Cron('0 0 1 1 *', { name: 'plain', disabled: true })
  run(): void {}
}

/** `cron`'s class, as an application would import it. */
const cronJobOf = ({ registry }: Replica): new (time: string, tick: () => void) => CronJob =>
  registry.getCronJob('plain').constructor as never;

describe('SingletonJobs', () => {
  it('runs a function once in the fleet for each instant, under its lease', async () => {
    const clock = newClock();
    const store = new MemoryLeaseStore({ clock });
    const runs: string[] = [];
    const both = [await start([], { clock, store }), await start([], { clock, store })];
    for (const { jobs } of both) {
      jobs.cron('* * * * *', { name: 'tenant-7', ttl: '10s' }, (lease: Lease) => {
        lease.assertHeld();
        runs.push(`${timeOf(clock.wall())} ${lease.key}`);
      });
    }
    await clock.advanceAsync(120_000);
    expect(runs).toEqual(['12:01:00 cron:tenant-7', '12:02:00 cron:tenant-7']);
    expect((await both[0]!.leases.cronHistory('tenant-7')).map(({ state }) => state)).toEqual(['ok', 'ok']);
  });

  it('is stopped, and its name is free again', async () => {
    const clock = newClock();
    const { jobs } = await start([], { clock });
    const runs: string[] = [];
    const job = jobs.interval('10s', { name: 'job', ttl: '1s' }, () => runs.push('first'));
    await clock.advanceAsync(10_000);
    expect(() => jobs.interval('10s', { name: 'job' }, () => undefined)).toThrow(/There is a scheduled job "job" already/);
    job.stop();
    await clock.advanceAsync(20_000);
    jobs.interval('10s', { name: 'job', ttl: '1s' }, () => runs.push('second'));
    await clock.advanceAsync(10_000);
    expect(runs).toEqual(['first', 'second']);
  });

  it('does not take the name of a decorated job', async () => {
    @Injectable()
    class Jobs {
      @SingletonCron('* * * * *', { name: 'job', ttl: '10s' })
      async run(): Promise<void> {}
    }
    const { jobs } = await start([Jobs]);
    expect(() => jobs.cron('* * * * *', { name: 'job' }, () => undefined)).toThrow(/already/);
  });

  it('follows a CronJob of the same name in SchedulerRegistry', async () => {
    const clock = newClock();
    const replica = await start([Plain], { clock });
    const { jobs, registry } = replica;
    const runs: string[] = [];
    const job = jobs.cron('* * * * *', { name: 'dynamic', ttl: '10s' }, () => runs.push(timeOf(clock.wall())));
    const known = new (cronJobOf(replica))('* * * * *', () => void job.tick());
    registry.addCronJob('dynamic', known);
    await clock.advanceAsync(60_000);
    expect(runs).toEqual([]);
    known.start();
    await clock.advanceAsync(60_000);
    // A tick at the wrong time is only a wake-up.
    await known.fireOnTick();
    await known.fireOnTick();
    await clock.settle();
    expect(runs).toEqual(['12:02:00']);
    await known.stop();
    await clock.advanceAsync(60_000);
    known.start();
    await clock.advanceAsync(60_000);
    registry.deleteCronJob('dynamic');
    await clock.advanceAsync(120_000);
    expect(runs).toEqual(['12:02:00', '12:04:00']);
  });

  it('takes no job once the application shuts down', async () => {
    const { app, jobs } = await startReplica([]);
    await app.close();
    expect(() => jobs.cron('* * * * *', { name: 'late' }, () => undefined)).toThrow(LeaseShutdownError);
  });

  it('lives outside the lease in whose handler it was made', async () => {
    const clock = newClock();
    const { jobs, leases } = await start([], { clock });
    const inside: (string | undefined)[] = [];
    await leases.withLease('outer', () => {
      jobs.interval('10s', { name: 'job', ttl: '1s' }, () => inside.push(leases.current('outer')?.key, leases.current()?.key));
    });
    await clock.advanceAsync(10_000);
    expect(inside).toEqual([undefined, 'cron:job']);
  });
});
