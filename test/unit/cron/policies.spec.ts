import { describe, expect, it } from '@jest/globals';
import { defineCron, defineInterval } from '../../../lib/cron/job-definition.js';
import type { SingletonCronOptions } from '../../../lib/cron/singleton-options.js';
import { Fleet } from './fleet.js';

const MINUTE = 60_000;
const START = Date.parse('2026-03-10T12:00:30.000Z');

const everyMinute = (options: Partial<SingletonCronOptions> = {}) =>
  defineCron('@SingletonCron', '* * * * *', { name: 'job', ttl: '9s', timeZone: 'UTC', ...options } as SingletonCronOptions);
const fleetOf = (options: Partial<SingletonCronOptions> = {}, durationMs = 1): Fleet =>
  new Fleet(everyMinute(options), { start: START, durationMs: () => durationMs });
/** `hh:mm` of what was run, in order. */
const ran = (fleet: Fleet): string[] => fleet.ran.map((instant) => new Date(instant).toISOString().slice(11, 16));
const states = async (fleet: Fleet): Promise<string[]> =>
  (await fleet.store.instants.history('cron:job')).map(({ instant, state }) => `${new Date(instant).toISOString().slice(11, 16)} ${state}`);

describe('a run longer than the period', () => {
  it('never has two bodies: what it costs is missed, counted and told with its holder', async () => {
    const fleet = fleetOf({}, 2.5 * MINUTE);
    fleet.add();
    fleet.add();
    await fleet.advance(6 * MINUTE);
    expect(ran(fleet)).toEqual(['12:01', '12:04']);
    expect(fleet.mostAtWork).toBe(1);
    const missed = fleet.of('instant-missed').slice(0, 2);
    expect(missed).toEqual([
      expect.objectContaining({ reason: 'held', missed: 1, holder: fleet.runs[0]?.replica }),
      expect.objectContaining({ reason: 'held', missed: 2, holder: fleet.runs[0]?.replica }),
    ]);
    expect((await fleet.store.instants.history('cron:job'))[1]).toMatchObject({ state: 'ok', missed: 2 });
  });
});

describe('the fleet was down over instants', () => {
  const downForFive = async (options: Partial<SingletonCronOptions>): Promise<Fleet> => {
    const fleet = fleetOf(options);
    const first = fleet.add();
    await fleet.advance(MINUTE);
    first.kill();
    await fleet.advance(5 * MINUTE);
    fleet.add();
    fleet.add({ skewMs: -3_600_000 });
    await fleet.advance(MINUTE);
    return fleet;
  };

  it('misfire: skip runs none of them, and tells how many', async () => {
    const fleet = await downForFive({});
    expect(ran(fleet)).toEqual(['12:01', '12:07']);
    expect(fleet.of('instant-missed')).toEqual([
      expect.objectContaining({ reason: 'down', missed: 5, instant: Date.parse('2026-03-10T12:06:00Z') }),
    ]);
  });

  it('misfire: run-once runs the newest of them, once, though two replicas are back', async () => {
    const fleet = await downForFive({ misfire: 'run-once' });
    expect(ran(fleet)).toEqual(['12:01', '12:06', '12:07']);
    expect(fleet.of('instant-missed')).toEqual([expect.objectContaining({ reason: 'down', missed: 4 })]);
  });

  it('misfire: run-once does not reach beyond the misfireWindow', async () => {
    const job = defineCron('@SingletonCron', '0 3 * * *', { name: 'job', timeZone: 'UTC', misfire: 'run-once', misfireWindow: '2h' });
    const late = async (hours: number): Promise<number> => {
      const fleet = new Fleet(job, { start: Date.parse('2026-03-10T01:00:00Z') });
      const first = fleet.add();
      await fleet.advance(60 * MINUTE);
      first.kill();
      await fleet.advance((1 + hours) * 60 * MINUTE);
      fleet.add();
      await fleet.advance(MINUTE);
      return fleet.runs.length;
    };
    expect(await late(1.9)).toBe(1);
    expect(await late(2.1)).toBe(0);
  });

  it.each(['skip', 'run-once'] as const)('a first deployment has missed nothing and runs nothing (misfire: %s)', async (misfire) => {
    const fleet = fleetOf({ misfire });
    fleet.add();
    await fleet.advance(29_000);
    expect(fleet.runs).toEqual([]);
  });

  it('an instant that one replica is late for is run by it; one that it slept over for minutes is a misfire', async () => {
    const fleet = new Fleet(defineCron('@SingletonCron', '0 */10 * * * *', { name: 'job', timeZone: 'UTC' }), { start: START });
    const only = fleet.add();
    await fleet.advance(9 * MINUTE);
    only.freeze();
    await fleet.advance(MINUTE);
    only.thaw();
    await fleet.advance(9 * MINUTE);
    only.freeze();
    await fleet.advance(3 * MINUTE);
    only.thaw();
    await fleet.advance(8 * MINUTE);
    expect(ran(fleet)).toEqual(['12:10', '12:30']);
  });
});

describe('the holder died in the run', () => {
  const crash = async (options: Partial<SingletonCronOptions>): Promise<Fleet> => {
    const fleet = fleetOf(options, 20_000);
    fleet.add();
    fleet.add({ lateMs: 1 });
    await fleet.advance(31_000);
    fleet.replicas.find(({ name }) => name === fleet.runs[0]?.replica)?.kill();
    await fleet.advance(50_000);
    return fleet;
  };

  it('onCrash: skip leaves it, and history says so', async () => {
    const fleet = await crash({});
    expect(ran(fleet)).toEqual(['12:01']);
    expect(await states(fleet)).toEqual(['12:01 crashed']);
    await fleet.advance(MINUTE);
    expect(ran(fleet)).toEqual(['12:01', '12:02']);
  });

  it('onCrash: rerun runs the same instant elsewhere, as soon as the lease is over, with a higher token', async () => {
    const fleet = await crash({ onCrash: 'rerun' });
    expect(ran(fleet)).toEqual(['12:01', '12:01']);
    const [first, second] = fleet.runs;
    expect(second?.token).toBeGreaterThan(first?.token ?? Infinity);
    expect((second?.began ?? 0) - (first?.began ?? 0)).toBeLessThan(12_000);
    expect(await states(fleet)).toEqual(['12:01 ok', '12:01 crashed']);
  });

  it('onCrash: rerun, by a replica that comes up after the crash of the only one', async () => {
    const fleet = fleetOf({ onCrash: 'rerun' }, 20_000);
    const only = fleet.add();
    await fleet.advance(31_000);
    only.kill();
    await fleet.advance(10_000);
    fleet.add();
    await fleet.advance(1000);
    expect(ran(fleet)).toEqual(['12:01', '12:01']);
  });

  it('onCrash: rerun comes to an end: a job that takes its process down each time does so once a replica', async () => {
    const fleet = fleetOf({ onCrash: 'rerun' }, 20_000);
    fleet.add();
    fleet.add();
    for (let i = 0; i < 5; i++) {
      await fleet.advance(11_000);
      fleet.replicas.find(({ name }) => name === fleet.runs.at(-1)?.replica)?.kill();
    }
    expect(fleet.runs).toHaveLength(2);
  });

  it('killed holder: the next run comes within one ttl, and what is skipped until then is told with its owner (framework#22406)', async () => {
    const job = defineInterval('@SingletonInterval', '1s', { name: 'job', ttl: '3s' });
    const fleet = new Fleet(job, { start: START, durationMs: () => 500 });
    fleet.add();
    fleet.add();
    await fleet.advance(5200);
    const dead = fleet.runs.at(-1);
    fleet.replicas.find(({ name }) => name === dead?.replica)?.kill();
    await fleet.advance(5000);
    const next = fleet.runs.find(({ began }) => began > (dead?.began ?? 0));
    expect((next?.began ?? Infinity) - (dead?.began ?? 0)).toBeLessThanOrEqual(4000);
    const missed = fleet.of('instant-missed');
    expect(missed.length).toBeGreaterThan(0);
    for (const event of missed) expect(event).toMatchObject({ reason: 'held', holder: dead?.replica });
  });
});

describe('atLeastFor and maxHold', () => {
  it('atLeastFor keeps everything else away from the key until then', async () => {
    const fleet = fleetOf({ atLeastFor: '20s' });
    const { service } = fleet.add().runtime;
    await fleet.advance(31_000);
    expect(await service.inspect('cron:job')).toMatchObject({ state: 'cooldown' });
    expect(await service.tryAcquire('cron:job')).toBeUndefined();
    await fleet.advance(20_000);
    expect(await service.inspect('cron:job')).toBeUndefined();
    await fleet.advance(MINUTE);
    expect(ran(fleet)).toEqual(['12:01', '12:02']);
  });

  it('maxHold ends a run that hangs, as interrupted, and the next instant runs', async () => {
    const fleet = fleetOf({ maxHold: '20s' }, 30_000);
    fleet.add();
    await fleet.advance(61_000);
    expect(fleet.of('lost')).toEqual([expect.objectContaining({ reason: 'max-hold' })]);
    expect(await states(fleet)).toEqual(['12:01 interrupted']);
    expect(fleet.of('run-failed')).toHaveLength(1);
    await fleet.advance(MINUTE);
    expect(ran(fleet)).toEqual(['12:01', '12:02']);
  });
});

describe('the store is away', () => {
  it('at an instant: it is asked again until the next one, and the run comes late', async () => {
    const fleet = fleetOf();
    const only = fleet.add();
    await fleet.advance(20_000);
    only.cut(true);
    await fleet.advance(40_000);
    expect(fleet.runs).toEqual([]);
    only.cut(false);
    await fleet.advance(10_000);
    expect(ran(fleet)).toEqual(['12:01']);
  });

  it('until the next instant: told, and never run without a lease (node-cron#581)', async () => {
    const fleet = fleetOf();
    const only = fleet.add();
    await fleet.advance(20_000);
    only.cut(true);
    await fleet.advance(2 * MINUTE + 20_000);
    only.cut(false);
    await fleet.advance(MINUTE);
    // 12:03 was still asked for when the store was back.
    const told = fleet.of('instant-unavailable').map((event) => (event as { instant: number }).instant);
    expect(told).toEqual([Date.parse('2026-03-10T12:01:00Z'), Date.parse('2026-03-10T12:02:00Z')]);
    expect(ran(fleet)).toEqual(['12:03', '12:04']);
  });

  it('a lost reply never eats an instant', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const fleet = new Fleet(everyMinute(), { start: START, seed });
      fleet.add({ loss: 0.3 });
      await fleet.advance(20 * MINUTE);
      expect(fleet.runs.length).toBeGreaterThanOrEqual(18);
      expect(new Set(fleet.ran).size).toBe(fleet.runs.length);
    }
  });

  it('from the start: nothing is run by our own clock, and told for each instant that passes', async () => {
    const fleet = fleetOf();
    const only = fleet.add({ skewMs: 10_000 });
    only.cut(true);
    await fleet.advance(3 * MINUTE);
    expect(fleet.runs).toEqual([]);
    expect(fleet.of('instant-unavailable').length).toBeGreaterThanOrEqual(2);
    only.cut(false);
    await fleet.advance(MINUTE);
    expect(ran(fleet).slice(-1)).toEqual(['12:04']);
  });
});

describe('timers', () => {
  it('early or late wake-ups change nothing: a day of a clock that runs 0.05 % fast or slow', async () => {
    const job = defineCron('@SingletonCron', '0 3 * * *', { name: 'job', timeZone: 'UTC' });
    for (const drift of [0.0005, -0.0005]) {
      const fleet = new Fleet(job, { start: Date.parse('2026-03-10T04:00:00Z') });
      fleet.add({ drift });
      await fleet.advance(48 * 60 * MINUTE);
      expect(fleet.runs.map(({ instant }) => new Date(instant).toISOString())).toEqual([
        '2026-03-11T03:00:00.000Z',
        '2026-03-12T03:00:00.000Z',
      ]);
      for (const { began, instant } of fleet.runs) expect(began - instant).toBeLessThan(1000);
    }
  });

  it('a frozen process comes back to the newest instant, and to no older one', async () => {
    const fleet = new Fleet(defineInterval('@SingletonInterval', '1s', { name: 'job', ttl: '900ms' }), { start: START });
    const frozen = fleet.add();
    fleet.add();
    await fleet.advance(3000);
    frozen.freeze();
    await fleet.advance(10_000);
    frozen.thaw();
    await fleet.advance(3000);
    expect(fleet.ran).toEqual([...new Set(fleet.ran)].sort((a, b) => a - b));
    expect(fleet.runs.length).toBeGreaterThanOrEqual(15);
  });

  it('the clock of the store goes back: no instant runs twice', async () => {
    const fleet = fleetOf();
    fleet.add();
    await fleet.advance(2 * MINUTE);
    fleet.clock.stepWall(-90_000);
    await fleet.advance(4 * MINUTE);
    expect(new Set(fleet.ran).size).toBe(fleet.runs.length);
    expect(ran(fleet).slice(0, 2)).toEqual(['12:01', '12:02']);
    expect(ran(fleet)).toContain('12:03');
  });
});

describe('another schedule under the same name', () => {
  it('is told by each replica, once', async () => {
    const fleet = fleetOf();
    fleet.add();
    await fleet.advance(MINUTE);
    const other = new Fleet(everyMinute({ timeZone: 'Europe/Berlin' }), { start: START });
    expect(other.job.schedule.description).not.toBe(fleet.job.schedule.description);
    (fleet as { job: unknown }).job = other.job;
    fleet.add();
    await fleet.advance(5 * MINUTE);
    const told = fleet.of('schedule-mismatch') as { ours: string; theirs: string }[];
    expect(new Set(told.map(({ ours, theirs }) => `${ours}|${theirs}`)).size).toBe(told.length);
    expect(told.length).toBeGreaterThanOrEqual(1);
    expect(new Set(fleet.ran).size).toBe(fleet.runs.length);
  });
});

describe('shutdown', () => {
  it('takes no instant from then on (nest#10131)', async () => {
    const fleet = fleetOf();
    const { runtime } = fleet.add();
    await fleet.advance(MINUTE);
    runtime.registry.stop();
    await fleet.advance(3 * MINUTE);
    expect(ran(fleet)).toEqual(['12:01']);
  });

  it('gives up what it is asking for, without a trace that would cost the instant', async () => {
    const fleet = fleetOf();
    const leaving = fleet.add();
    await fleet.advance(20_000);
    leaving.cut('replies');
    await fleet.advance(11_000);
    leaving.runtime.registry.stop();
    expect(await states(fleet)).toEqual(['12:01 running']);
    leaving.cut(false);
    await fleet.advance(2000);
    expect(await states(fleet)).toEqual(['12:01 unstarted']);
    fleet.add();
    await fleet.advance(MINUTE);
    expect(ran(fleet)).toEqual(['12:01', '12:02']);
  });
});
