import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import {
  CurrentLease,
  FencingToken,
  injected,
  Lease,
  LeaseBusyError,
  SingletonCron,
  SingletonInterval,
  WithLease,
} from '../../../lib/index.js';
import type { FaultyLeaseStore } from '../../../lib/testing/faulty-lease-store.js';
import { deferred } from '../../support/nest-app.js';
import { newClock, startReplica, timeOf, type Replica } from './replica.js';

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

describe('@SingletonCron', () => {
  it('runs at each instant, with its lease and its fencing token', async () => {
    const clock = newClock();
    const runs: [string, string, boolean][] = [];
    @Injectable()
    class Reports {
      @SingletonCron('* * * * *', { name: 'report', ttl: '10s' })
      async report(@FencingToken() token: number = injected(), @CurrentLease() lease: Lease = injected()): Promise<void> {
        lease.assertHeld();
        runs.push([timeOf(clock.wall()), lease.key, token === lease.fencingToken]);
      }
    }
    await start([Reports], { clock });
    await clock.advanceAsync(180_000);
    expect(runs).toEqual([
      ['12:01:00', 'cron:report', true],
      ['12:02:00', 'cron:report', true],
      ['12:03:00', 'cron:report', true],
    ]);
  });

  it('runs an interval at its multiples since the epoch', async () => {
    const clock = newClock('2026-03-10T12:00:17.000Z');
    const runs: string[] = [];
    @Injectable()
    class Sync {
      @SingletonInterval('30s', { name: 'sync', ttl: '5s' })
      async run(): Promise<void> {
        runs.push(timeOf(clock.wall()));
      }
    }
    const { registry } = await start([Sync], { clock });
    expect(registry.getIntervals()).toEqual(['sync']);
    await clock.advanceAsync(75_000);
    expect(runs).toEqual(['12:00:30', '12:01:00', '12:01:30']);
  });

  it('is known to SchedulerRegistry, where it can be stopped, started and deleted', async () => {
    const clock = newClock();
    const runs: string[] = [];
    @Injectable()
    class Reports {
      @SingletonCron(CronExpression.EVERY_MINUTE, { name: 'report', ttl: '10s' })
      async report(): Promise<void> {
        runs.push(timeOf(clock.wall()));
      }
    }
    const { registry } = await start([Reports], { clock });
    await clock.advanceAsync(60_000);
    await registry.getCronJob('report').stop();
    await clock.advanceAsync(120_000);
    registry.getCronJob('report').start();
    await clock.advanceAsync(60_000);
    registry.deleteCronJob('report');
    await clock.advanceAsync(120_000);
    expect(runs).toEqual(['12:01:00', '12:04:00']);
  });

  it('obeys timeZone, disabled and initialDelay', async () => {
    const clock = newClock('2026-03-10T11:59:30.000Z');
    const runs: string[] = [];
    @Injectable()
    class Jobs {
      @SingletonCron('0 0 13 * * *', { name: 'berlin', timeZone: 'Europe/Berlin' })
      async berlin(): Promise<void> {
        runs.push(`berlin ${timeOf(clock.wall())}`);
      }
      @SingletonCron('0 30 17 * * *', { name: 'offset', utcOffset: 330 })
      async offset(): Promise<void> {
        runs.push(`offset ${timeOf(clock.wall())}`);
      }
      @SingletonCron('0 * * * * *', { name: 'off', disabled: true })
      async off(): Promise<void> {
        runs.push('off');
      }
    }
    await start([Jobs], { clock });
    await clock.advanceAsync(90_000);
    expect(runs.sort()).toEqual(['berlin 12:00:00', 'offset 12:00:00']);
  });

  it('waits for initialDelay', async () => {
    const clock = newClock();
    const runs: string[] = [];
    @Injectable()
    class Jobs {
      @SingletonCron('*/10 * * * * *', { name: 'slow-start', ttl: '1s', initialDelay: 25_000 })
      async run(): Promise<void> {
        runs.push(timeOf(clock.wall()));
      }
    }
    const { registry } = await start([Jobs], { clock });
    // Its own timers run on the clock of the machine.
    registry.getCronJob('slow-start').start();
    await clock.advanceAsync(45_000);
    expect(runs).toEqual(['12:00:30', '12:00:40']);
  });

  it('runs once at a Date', async () => {
    const clock = newClock(new Date().toISOString());
    const at = new Date(Math.ceil(clock.wall() / 1000) * 1000 + 30_000);
    const runs: number[] = [];
    @Injectable()
    class Jobs {
      @SingletonCron(at, { name: 'once' })
      async run(): Promise<void> {
        runs.push(clock.wall());
      }
    }
    await start([Jobs], { clock });
    await clock.advanceAsync(120_000);
    expect(runs).toEqual([at.getTime()]);
  });

  it('two schedule decorators on one method both count (schedule#61)', async () => {
    const clock = newClock('2026-03-10T07:59:30.000Z');
    const runs: string[] = [];
    @Injectable()
    class Jobs {
      @SingletonCron('0 8 * * *', { name: 'morning', timeZone: 'UTC' })
      @SingletonCron('0 20 * * *', { name: 'evening', timeZone: 'UTC' })
      async run(@CurrentLease() lease: Lease = injected()): Promise<void> {
        runs.push(`${timeOf(clock.wall())} ${lease.key}`);
      }
    }
    const { leases } = await start([Jobs], { clock });
    await clock.advanceAsync(13 * 3_600_000);
    expect(runs).toEqual(['08:00:00 cron:morning', '20:00:00 cron:evening']);
    expect((await leases.cronHistory('morning')).map(({ state }) => state)).toEqual(['ok']);
    expect((await leases.cronHistory('evening')).map(({ state }) => state)).toEqual(['ok']);
  });

  it('takes each distinct lease once together with @WithLease (schedule#61)', async () => {
    const clock = newClock();
    const runs: string[] = [];
    @Injectable()
    class Jobs {
      @SingletonCron('* * * * *', { name: 'above', ttl: '10s' })
      @WithLease('one')
      async above(@CurrentLease() lease: Lease = injected()): Promise<void> {
        runs.push(`above ${lease.key}`);
      }
      @WithLease('two')
      @SingletonCron('* * * * *', { name: 'below', ttl: '10s' })
      async below(@CurrentLease() lease: Lease = injected()): Promise<void> {
        runs.push(`below ${lease.key}`);
      }
    }
    const { store, leases } = await start([Jobs], { clock });
    await clock.advanceAsync(61_000);
    // Each is given the lease of the decorator nearest to it.
    expect(runs.sort()).toEqual(['above one', 'below cron:below']);
    for (const name of ['above', 'below']) expect((await leases.cronHistory(name)).map(({ state }) => state)).toEqual(['ok']);
    const asked = [...(store as FaultyLeaseStore).calls('acquire'), ...(store as FaultyLeaseStore).calls('begin')];
    const keys = asked.filter((request) => !('purpose' in request) || request.purpose === 'due').map(({ key }) => key);
    expect(keys.sort()).toEqual(['cron:above', 'cron:below', 'one', 'two']);
  });

  it('warns of a plain @Cron on the same method (schedule#61)', async () => {
    @Injectable()
    class Jobs {
      @Cron('0 0 1 1 *', { name: 'plain', disabled: true })
      @SingletonCron('0 0 2 1 *', { name: 'single' })
      async run(): Promise<void> {}
    }
    const { log, registry } = await start([Jobs]);
    expect(log.of('warn').join('\n')).toContain('Jobs.run has a @Cron');
    expect([...registry.getCronJobs().keys()].sort()).toEqual(['plain', 'single']);
  });

  it('a direct call is an ordinary leased call: it is not swallowed by the memory of instants (vendure#4681)', async () => {
    const clock = newClock();
    const gate = deferred();
    let calls = 0;
    @Injectable()
    class Jobs {
      @SingletonCron('* * * * *', { name: 'job', ttl: '10s' })
      async run(): Promise<string> {
        calls++;
        await gate.promise;
        return 'done';
      }
    }
    const { app, leases } = await start([Jobs], { clock });
    await clock.advanceAsync(60_000);
    expect(calls).toBe(1);
    await expect(app.get(Jobs).run()).rejects.toThrow(LeaseBusyError);
    gate.resolve();
    await clock.settle();
    expect(await app.get(Jobs).run()).toBe('done');
    expect(calls).toBe(2);
    expect(await leases.cronHistory('job')).toHaveLength(1);
    await clock.advanceAsync(60_000);
    expect(calls).toBe(3);
  });

  it('keeps a wrapper that stands above it, as @Cron would', async () => {
    const clock = newClock();
    const order: string[] = [];
    const traced: MethodDecorator = (_target, _method, descriptor) => {
      const original = descriptor.value as unknown as (...args: unknown[]) => Promise<unknown>;
      descriptor.value = async function (this: unknown, ...args: unknown[]) {
        order.push('before');
        await original.apply(this, args);
        order.push('after');
      } as never;
    };
    @Injectable()
    class Jobs {
      @traced
      @SingletonCron('* * * * *', { name: 'job', ttl: '10s' })
      async run(): Promise<void> {
        order.push('body');
      }
    }
    await start([Jobs], { clock });
    await clock.advanceAsync(60_000);
    expect(order).toEqual(['before', 'body', 'after']);
  });
});
