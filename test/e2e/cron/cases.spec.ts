import { afterEach, describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module, Scope } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { LeaseModule, MemoryLeaseStore, SingletonCron, SingletonInterval, WithLease } from '../../../lib/index.js';
import { FaultyLeaseStore } from '../../../lib/testing/faulty-lease-store.js';
import { deferred } from '../../support/nest-app.js';
import { instantsOf, newClock, startReplica, timeOf, type Replica } from './replica.js';

let replicas: Replica[] = [];
const start = async (...args: Parameters<typeof startReplica>): Promise<Replica> => {
  const replica = await startReplica(...args);
  replicas.push(replica);
  return replica;
};
const everyMinute = (name: string): MethodDecorator => SingletonCron('* * * * *', { name, ttl: '10s', timeZone: 'UTC' });

afterEach(async () => {
  await Promise.all(replicas.map(({ app }) => app.close()));
  replicas = [];
});

describe('two applications on one store', () => {
  it('a job faster than their clocks differ runs once an instant, not twice (ShedLock#6, ShedLock#8, vendure#4681)', async () => {
    const clock = newClock();
    const store = new MemoryLeaseStore({ clock });
    const runs: string[] = [];
    @Injectable()
    class Jobs {
      @SingletonCron('*/2 * * * * *', { name: 'fast', ttl: '1s' })
      async fast(): Promise<void> {
        runs.push(timeOf(clock.wall()));
        await new Promise<void>((resolve) => void clock.setTimer(resolve, 5));
      }
    }
    await start([Jobs], { clock, store });
    await start([Jobs], { clock, store, view: { wall: () => clock.wall() - 5000 } });
    await clock.advanceAsync(20_000);
    expect(runs).toHaveLength(10);
    expect(new Set(runs).size).toBe(10);
  });

  it('the event loop of one is late: no second run (perminder-klair/subwave#1383)', async () => {
    const clock = newClock();
    const store = new MemoryLeaseStore({ clock });
    const runs: string[] = [];
    @Injectable()
    class Jobs {
      @everyMinute('job')
      async run(): Promise<void> {
        runs.push(timeOf(clock.wall()));
      }
    }
    await start([Jobs], { clock, store });
    await start([Jobs], { clock, store, view: { setTimer: (fn, ms) => clock.setTimer(fn, ms + 400) } });
    await clock.advanceAsync(180_000);
    expect(runs).toEqual(['12:01:00', '12:02:00', '12:03:00']);
  });
});

describe('clocks that change', () => {
  const across = async (from: string, hours: number, zone: string, expression: string): Promise<string[]> => {
    const clock = newClock(from);
    const store = new MemoryLeaseStore({ clock });
    const runs: string[] = [];
    @Injectable()
    class Jobs {
      @SingletonCron(expression, { name: 'job', timeZone: zone })
      async run(): Promise<void> {
        runs.push(new Date(clock.wall()).toISOString().slice(11, 16));
      }
    }
    await start([Jobs], { clock, store });
    await start([Jobs], { clock, store });
    await clock.advanceAsync(hours * 3_600_000);
    return runs;
  };

  it('half-hourly, back in Berlin: both passes of the repeated hour, once each over all replicas (node-cron#881)', async () => {
    expect(await across('2026-10-24T23:45:00Z', 3, 'Europe/Berlin', '*/30 * * * *')).toEqual([
      '00:00',
      '00:30',
      '01:00',
      '01:30',
      '02:00',
      '02:30',
    ]);
  });

  it('daily at 02:30, back in New York: once (node-cron#563)', async () => {
    expect(await across('2026-11-01T04:00:00Z', 6, 'America/New_York', '30 1 * * *')).toEqual(['05:30']);
  });

  it('daily at 02:30, forward in Berlin: at the first instant after the gap, not skipped (node-cron#509)', async () => {
    expect(await across('2026-03-28T23:00:00Z', 5, 'Europe/Berlin', '30 2 * * *')).toEqual(['01:00']);
  });

  it('hourly, back by half an hour on Lord Howe Island: no hour is silent, none runs twice (eliza#11100)', async () => {
    const runs = await across('2026-04-04T13:10:00Z', 4, 'Australia/Lord_Howe', '0 * * * *');
    // 01:00 of the first pass, then 02:00 and 03:00 half an hour later.
    expect(runs).toEqual(['14:00', '15:30', '16:30']);
  });

  it('leap day and the end of a month', async () => {
    expect(await across('2028-02-28T12:00:00Z', 48, 'UTC', '0 9 29 2 *')).toEqual(['09:00']);
    expect(await across('2026-04-29T12:00:00Z', 24 * 33, 'UTC', '0 9 31 * *')).toEqual(['09:00']);
  });
});

describe('overlap and failures', () => {
  it('a run longer than the period never has two bodies in one process; skipped ticks are counted (node-cron#923, schedule#1869)', async () => {
    const clock = newClock();
    let [atWork, most, bodies] = [0, 0, 0];
    @Injectable()
    class Jobs {
      @SingletonCron('* * * * * *', { name: 'job', ttl: '900ms', waitForCompletion: true })
      async run(): Promise<void> {
        bodies++;
        most = Math.max(most, ++atWork);
        await new Promise<void>((resolve) => void clock.setTimer(resolve, 1100));
        atWork--;
      }
    }
    const { events } = await start([Jobs], { clock });
    await clock.advanceAsync(10_000);
    expect({ most, bodies, missed: events.filter(({ type }) => type === 'instant-missed').length }).toEqual({
      most: 1,
      bodies: 5,
      missed: 5,
    });
  });

  it.each([
    [
      'throws at once',
      () => {
        throw new Error('boom');
      },
    ],
    ['returns a rejected promise', () => Promise.reject(new Error('boom'))],
  ] as const)(
    'a handler that is not async and %s: released, logged once, the next tick runs (schedule#440, schedule#1079)',
    async (_, body) => {
      const clock = newClock();
      let calls = 0;
      @Injectable()
      class Jobs {
        @everyMinute('job')
        run(): unknown {
          calls++;
          return body();
        }
      }
      const { log, leases, events } = await start([Jobs], { clock });
      await clock.advanceAsync(60_000);
      expect(await leases.inspect('cron:job')).toBeUndefined();
      expect(log.of('error')).toEqual([expect.stringMatching(/"cron:job" failed .*boom/)]);
      expect(events).toContainEqual(expect.objectContaining({ type: 'run-failed', error: expect.objectContaining({ message: 'boom' }) }));
      await clock.advanceAsync(60_000);
      expect(calls).toBe(2);
      expect((await leases.cronHistory('job')).map(({ state }) => state)).toEqual(['failed', 'failed']);
    },
  );

  it('a handler that returns a value at once is released (schedule#440)', async () => {
    const clock = newClock();
    @Injectable()
    class Jobs {
      @everyMinute('job')
      run(): number {
        return 1;
      }
    }
    const { leases } = await start([Jobs], { clock });
    await clock.advanceAsync(60_000);
    expect((await leases.cronHistory('job')).map(({ state }) => state)).toEqual(['ok']);
  });

  it('the store is down at two ticks and up at the third: two are told, the third runs, no promise is left (node-cron#581)', async () => {
    const clock = newClock();
    const store = new FaultyLeaseStore(new MemoryLeaseStore({ clock }), { clock });
    const runs: string[] = [];
    @Injectable()
    class Jobs {
      @everyMinute('job')
      async run(): Promise<void> {
        runs.push(timeOf(clock.wall()));
      }
    }
    const { events, log } = await start([Jobs], { clock, store });
    store.fail('begin', new Error('ECONNREFUSED'), Infinity);
    await clock.advanceAsync(150_000);
    store.heal();
    await clock.advanceAsync(60_000);
    expect(instantsOf(events, 'instant-unavailable')).toEqual(['12:01:00']);
    // The second was still asked for when the store was back, and so comes late.
    expect(runs.map((run) => run.slice(0, 5))).toEqual(['12:02', '12:03']);
    expect(log.of('warn').filter((line) => line.includes('could not be asked until the next instant'))).toHaveLength(1);
  });

  it('a busy run of others is no error: a skipped event and a debug line', async () => {
    const clock = newClock();
    const store = new MemoryLeaseStore({ clock });
    const gate = deferred();
    @Injectable()
    class Jobs {
      @everyMinute('job')
      async run(): Promise<void> {
        await gate.promise;
      }
    }
    const both = [await start([Jobs], { clock, store }), await start([Jobs], { clock, store })];
    await clock.advanceAsync(60_000);
    const skipped = both.flatMap(({ events }) => events.filter(({ type }) => type === 'skipped'));
    expect(skipped).toEqual([expect.objectContaining({ key: 'cron:job', state: 'running', fencingToken: expect.any(Number) })]);
    expect(both.flatMap(({ log }) => [...log.of('error'), ...log.of('warn')])).toEqual([]);
    gate.resolve();
  });

  it('a failing body rejects a direct caller with its own error', async () => {
    @Injectable()
    class Jobs {
      @everyMinute('job')
      async run(): Promise<void> {
        throw new Error('mine');
      }
    }
    const { app } = await start([Jobs]);
    await expect(app.get(Jobs).run()).rejects.toThrow('mine');
  });
});

describe('what cannot run as declared fails the start-up, or is warned of', () => {
  const failure = async (...args: Parameters<typeof startReplica>): Promise<string> => {
    try {
      await start(...args);
    } catch (error) {
      return (error as Error).message;
    }
    return 'started';
  };

  it('a missing ScheduleModule', async () => {
    @Injectable()
    class Jobs {
      @everyMinute('job')
      async run(): Promise<void> {}
    }
    expect(await failure([Jobs], { schedule: false })).toMatch(/Jobs\.run is scheduled, .* import ScheduleModule\.forRoot\(\)/);
  });

  it('an application without jobs needs none', async () => {
    expect(await failure([], { schedule: false })).toBe('started');
  });

  it('two jobs of one name in two classes (laravel-actions#162)', async () => {
    @Injectable()
    class One {
      @everyMinute('handleCron')
      async handleCron(): Promise<void> {}
    }
    @Injectable()
    class Two {
      @everyMinute('handleCron')
      async handleCron(): Promise<void> {}
    }
    expect(await failure([One, Two])).toMatch(
      /Two scheduled jobs have the name "handleCron": One\.handleCron in .* and Two\.handleCron in /,
    );
  });

  it('a job that two sub classes inherit: they would exclude each other by accident (framework#28351)', async () => {
    abstract class Base {
      @everyMinute('base')
      async run(): Promise<void> {}
    }
    @Injectable()
    class One extends Base {}
    @Injectable()
    class Two extends Base {}
    expect(await failure([One, Two])).toMatch(/"base": One\.run in .* and Two\.run/);
  });

  it('sub classes with jobs of their own run side by side (framework#28351)', async () => {
    const clock = newClock();
    const runs: string[] = [];
    abstract class Base {
      async work(): Promise<void> {
        runs.push(this.constructor.name);
      }
    }
    @Injectable()
    class One extends Base {
      @everyMinute('one')
      override async work(): Promise<void> {
        await super.work();
      }
    }
    @Injectable()
    class Two extends Base {
      @everyMinute('two')
      override async work(): Promise<void> {
        await super.work();
      }
    }
    await start([One, Two], { clock });
    await clock.advanceAsync(60_000);
    expect(runs.sort()).toEqual(['One', 'Two']);
  });

  it('a provider in two modules', async () => {
    @Injectable()
    class Jobs {
      @everyMinute('job')
      async run(): Promise<void> {}
    }
    @Module({ providers: [Jobs] })
    class Feature {}
    expect(await failure([Jobs], { metadata: { imports: [Feature] } })).toMatch(/provided twice: provide it in one module/);
  });

  it('an alias is the same instance: it runs once, and a warning tells', async () => {
    const clock = newClock();
    let calls = 0;
    @Injectable()
    class Jobs {
      @everyMinute('job')
      async run(): Promise<void> {
        calls++;
      }
    }
    const { log } = await start([Jobs, { provide: 'ALIAS', useExisting: Jobs }], { clock });
    await clock.advanceAsync(60_000);
    expect(calls).toBe(1);
    expect(log.of('warn').join()).toContain('provided under two tokens');
  });

  it('a request-scoped provider, which @Cron skips in silence (schedule#505, nestjs#34)', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {}
    @Injectable()
    class Jobs {
      constructor(@Inject(PerRequest) readonly dependency: PerRequest) {}
      @everyMinute('job')
      async run(): Promise<void> {}
    }
    expect(await failure([PerRequest, Jobs])).toMatch(
      /Jobs\.run would never run: the provider is request-scoped, or injects something that is/,
    );
  });

  it('a durable or a transient provider', async () => {
    @Injectable({ scope: Scope.REQUEST, durable: true })
    class Durable {
      @everyMinute('durable')
      async run(): Promise<void> {}
    }
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient {
      @everyMinute('transient')
      async run(): Promise<void> {}
    }
    expect(await failure([Durable])).toContain('Durable.run would never run');
    expect(await failure([Transient])).toContain('Transient.run would never run: the provider is transient');
  });

  it('@WithLease beside it does not change the scope of a class (schedule#726)', async () => {
    const clock = newClock();
    let calls = 0;
    @Injectable()
    class Jobs {
      @Cron('0 0 1 1 *', { name: 'plain', disabled: true })
      @WithLease('leased')
      async leased(): Promise<void> {}
      @everyMinute('job')
      async run(): Promise<void> {
        calls++;
      }
    }
    const { registry } = await start([Jobs], { clock });
    await clock.advanceAsync(60_000);
    expect(calls).toBe(1);
    expect([...registry.getCronJobs().keys()].sort()).toEqual(['job', 'plain']);
  });

  it('ScheduleModule imported three times: one run an instant, and a warning for the plain ones (docs.nestjs.com#3538, schedule#1417)', async () => {
    const clock = newClock();
    let calls = 0;
    @Injectable()
    class Jobs {
      @SingletonCron('* * * * * *', { name: 'job', ttl: '500ms' })
      async run(): Promise<void> {
        calls++;
      }
    }
    @Module({ imports: [ScheduleModule.forRoot()] })
    class One {}
    @Module({ imports: [ScheduleModule.forRoot()] })
    class Two {}
    const { log } = await start([Jobs], { clock, metadata: { imports: [One, Two] } });
    await clock.advanceAsync(3000);
    expect(calls).toBe(3);
    expect(log.of('warn').join()).toContain('ScheduleModule.forRoot() is imported 3 times');
  });

  it('LeaseModule imported twice (docs.nestjs.com#3538)', async () => {
    @Module({ imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })] })
    class Feature {}
    expect(await failure([], { metadata: { imports: [Feature] } })).toMatch(/registered 2 times/);
  });

  it('a ttl and an atLeastFor at odds with the period', async () => {
    @Injectable()
    class Jobs {
      @SingletonCron('*/5 * * * * *', { name: 'ttl', ttl: '30s', onCrash: 'rerun' })
      async ttl(): Promise<void> {}
      @SingletonInterval('10s', { name: 'least', ttl: '5s', atLeastFor: '10s' })
      async least(): Promise<void> {}
      @SingletonCron('0 * * * *', { name: 'fine' })
      async fine(): Promise<void> {}
    }
    const { log } = await start([Jobs]);
    const warnings = log.of('warn');
    expect(warnings).toHaveLength(2);
    expect(warnings.join('\n')).toMatch(/"ttl", every 5s\): a ttl of 30s is longer than the period.*onCrash: "rerun" comes too late/);
    expect(warnings.join('\n')).toMatch(/"least", every 10s\): atLeastFor of 10s keeps the lease over the next instant/);
  });

  it.each([
    ['no name', () => SingletonCron('* * * * *', {} as never), /The option "name" of @SingletonCron is missing/],
    ['no options', () => SingletonCron('* * * * *', undefined as never), /has no options: give it a name/],
    ['an empty name', () => SingletonInterval('1s', { name: ' ' }), /is empty/],
    ['a mistyped option', () => SingletonCron('* * * * *', { name: 'a', misfre: 'skip' } as never), /did you mean "misfire"/],
    ['a bare number as interval', () => SingletonInterval(30 as never, { name: 'a' }), /must be a string with its unit/],
    ['an unreadable expression', () => SingletonCron('61 * * * *', { name: 'a' }), /expression/],
    ['an expression that never comes', () => SingletonCron('0 0 31 2 *', { name: 'a' }), /never run/],
    ['an unknown zone', () => SingletonCron('* * * * *', { name: 'a', timeZone: 'Mars/Base' }), /timeZone/],
    ['an unknown policy', () => SingletonCron('* * * * *', { name: 'a', onCrash: 'retry' as never }), /'skip' or 'rerun'/],
    ['a threshold in words', () => SingletonCron('* * * * *', { name: 'a', threshold: '1s' as never }), /milliseconds/],
  ])('%s', (_, decorate, message) => {
    expect(decorate).toThrow(message);
  });

  it('a result that nobody would read', () => {
    expect(() => {
      class Jobs {
        @everyMinute('job')
        async *run(): AsyncGenerator<number> {
          yield 1;
        }
      }
      return Jobs;
    }).toThrow(/whose result nobody would read/);
  });
});

describe('shutdown', () => {
  it('takes no instant once it has begun, and lets a running one finish within the grace (schedule#2053, nest#10131)', async () => {
    const clock = newClock();
    const gate = deferred();
    const told: string[] = [];
    @Injectable()
    class Jobs {
      @everyMinute('slow')
      async slow(): Promise<void> {
        told.push('slow began');
        await gate.promise;
        told.push('slow ended');
      }
      @SingletonCron('* * * * * *', { name: 'fast', ttl: '500ms' })
      async fast(): Promise<void> {
        told.push('fast');
      }
    }
    const { app, leases } = await startReplica([Jobs], { clock });
    await clock.advanceAsync(59_900);
    expect(told).toContain('slow began');
    const before = told.filter((line) => line === 'fast').length;
    const closed = app.close();
    await clock.advanceAsync(5000);
    expect(told.filter((line) => line === 'fast')).toHaveLength(before);
    gate.resolve();
    await clock.advanceAsync(100);
    await closed;
    expect(told.at(-1)).toBe('slow ended');
    expect((await leases.cronHistory('slow')).map(({ state }) => state)).toEqual(['ok']);
  });
});

describe('the history', () => {
  it('tells whether the 03:00 job ran, where, and how it ended', async () => {
    const clock = newClock('2026-03-10T02:59:00Z');
    @Injectable()
    class Jobs {
      @SingletonCron('0 3 * * *', { name: 'nightly', timeZone: 'UTC' })
      async nightly(): Promise<void> {
        await new Promise<void>((resolve) => void clock.setTimer(resolve, 2500));
      }
    }
    const { leases } = await start([Jobs], { clock });
    expect(await leases.cronHistory('nightly')).toEqual([]);
    await clock.advanceAsync(61_000);
    const three = Date.parse('2026-03-10T03:00:00Z');
    const [running] = await leases.cronHistory('nightly');
    expect(running).toMatchObject({ instant: three, state: 'running', holder: expect.stringContaining(String(process.pid)) });
    expect(running).not.toHaveProperty('ended');
    await clock.advanceAsync(10_000);
    const [run] = await leases.cronHistory('nightly');
    expect(run).toMatchObject({ instant: three, state: 'ok', missed: 0 });
    expect((run?.ended ?? 0) - (run?.started ?? 0)).toBe(2500);
  });
});
