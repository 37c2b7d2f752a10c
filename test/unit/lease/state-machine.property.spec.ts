import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { isHeld } from '../../../lib/lease/lease-control.js';
import type { Lease } from '../../../lib/lease/lease.js';
import { MemoryLeaseStore } from '../../../lib/stores/memory/memory-lease-store.js';
import type { RenewRequest, RenewResult } from '../../../lib/stores/lease-store.js';
import { ManualClock } from '../../../lib/testing/manual-clock.js';
import { LeaseRig } from '../../support/lease-rig.js';

/** What can happen to a lease; times in milliseconds of true time. */
type Step =
  | { do: 'pass' | 'suspend' | 'delayReply'; ms: number }
  | { do: 'step'; ms: number }
  | { do: 'dropRequest' | 'dropReply' | 'fail' | 'heal' | 'loseKey' | 'rivalTakes' }
  | { do: 'renew'; ttl: string };

const passing = fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 1200 }) });
const fault = fc.record({ do: fc.constantFrom('dropRequest' as const, 'dropReply' as const, 'fail' as const, 'heal' as const) });
const late = fc.record({ do: fc.constant('delayReply' as const), ms: fc.integer({ min: 1, max: 3000 }) });
const renewal = fc.record({ do: fc.constant('renew' as const), ttl: fc.constantFrom('500ms', '3s', '10s') });
const loss = fc.record({ do: fc.constantFrom('loseKey' as const, 'rivalTakes' as const) });
const sleep = fc.record({ do: fc.constant('suspend' as const), ms: fc.integer({ min: 1, max: 6000 }) });
const step = fc.record({ do: fc.constant('step' as const), ms: fc.integer({ min: -7_200_000, max: 7_200_000 }) });

/** The store notes, in true time, when each acknowledged renewal left: what the deadlines may be built on. */
class NotingStore extends MemoryLeaseStore {
  readonly asked: { at: number; ttlMs: number; kind: string }[] = [];

  constructor(private readonly truth: ManualClock) {
    super({ clock: truth });
  }

  override async renew(requests: readonly RenewRequest[]): Promise<RenewResult[]> {
    const results = await super.renew(requests);
    requests.forEach((request, i) => this.asked.push({ at: this.truth.monotonic(), ttlMs: request.ttlMs, kind: results[i]?.kind ?? '' }));
    return results;
  }
}

class World {
  readonly truth = new ManualClock();
  readonly store = new NotingStore(this.truth);
  readonly rig: LeaseRig;
  private readonly rival: LeaseRig;
  keyLost = false;
  slept = 0;

  constructor(tellsSuspended: boolean) {
    this.rig = new LeaseRig(new ManualClock({ tellsSuspended }), this.store);
    this.rival = new LeaseRig(this.truth, this.store, { holder: 'rival:2' });
  }

  async apply(event: Step, lease: Lease): Promise<void> {
    const { rig, truth } = this;
    if (event.do === 'pass') await this.pass(event.ms);
    else if (event.do === 'suspend') {
      this.slept += event.ms;
      truth.advance(event.ms);
      rig.clock.suspend(event.ms);
    } else if (event.do === 'step') rig.clock.stepWall(event.ms);
    else if (event.do === 'delayReply') rig.faulty.delayReply('renew', event.ms);
    else if (event.do === 'fail') rig.faulty.fail('renew', new Error('reset'));
    else if (event.do === 'heal') rig.faulty.heal();
    else if (event.do === 'renew') void lease.renew(event.ttl).catch(() => undefined);
    else if (event.do === 'dropRequest' || event.do === 'dropReply') rig.faulty[event.do]('renew');
    else {
      this.keyLost = true;
      await this.store.forceRelease('k');
      if (event.do === 'rivalTakes') await this.rival.tryAcquire('k', { ttl: '1h' });
    }
    await rig.clock.settle();
  }

  /** Both clocks go on together, millisecond steps of timers on either. */
  private async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 50) {
      this.truth.advance(Math.min(50, left));
      await this.rig.clock.advanceAsync(Math.min(50, left));
    }
  }

  /** The latest moment, in true time, up to which any acknowledgement could let the holder go on. */
  softDeadline(acquiredAt: number, ttlMs: number): number {
    const all = [{ at: acquiredAt, ttlMs, kind: 'held' }, ...this.store.asked].filter((ask) => ask.kind === 'held');
    return Math.max(...all.map((ask) => ask.at + (ask.ttlMs * 2) / 3));
  }
}

async function run(steps: readonly Step[], tellsSuspended: boolean): Promise<void> {
  const world = new World(tellsSuspended);
  const { rig, truth, store } = world;
  const lease = await rig.acquire('k', { ttl: '3s' });
  const { signal } = lease;
  let lost = false;
  for (const event of steps) {
    await world.apply(event, lease);
    const state = isHeld(lease);
    // Final: what is lost stays lost, and the signal says so too.
    if (lost) expect(state).toBe('lost');
    lost = state === 'lost';
    expect(signal.aborted).toBe(lost);
    if (state !== 'held') continue;
    // What assertHeld lets pass, the store holds for us, unless it dropped the key behind our back.
    expect(truth.monotonic()).toBeLessThan(world.softDeadline(0, 3000));
    if (!world.keyLost) expect((await store.inspect('k'))?.holderTag).toBe(lease.holderTag);
    expect(lease.remainingMs()).toBeLessThan(10_000);
  }
  // A store that has dropped the key is noticed at the next renewal, within the soft deadline at the latest.
  rig.faulty.heal();
  await world.apply({ do: 'pass', ms: 7000 }, lease);
  expect(isHeld(lease)).toBe(world.keyLost || lost ? 'lost' : isHeld(lease));
  await lease.release();
  await world.apply({ do: 'pass', ms: 12_000 }, lease);
  expect(rig.clock.pendingTimers).toBe(0);
}

jest.setTimeout(60_000);

describe('the state machine of a lease, against a model, under random answers, timers and clocks', () => {
  it('without suspends: never held past its deadline, never lost for nothing', async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.oneof(passing, fault, late, renewal, loss, step), { maxLength: 25 }), fc.boolean(), run), {
      numRuns: 60,
    });
  });

  it('with suspends: never held past its deadline in true time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(passing, fault, late, renewal, loss, sleep), { maxLength: 25 }), fc.boolean(), run),
      { numRuns: 60 },
    );
  });

  it('without faults, it is never lost, whatever the wall clock does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(passing, renewal, step), { maxLength: 25 }), fc.boolean(), async (steps, tells) => {
        const world = new World(tells);
        const lease = await world.rig.acquire('k', { ttl: '3s' });
        for (const event of steps) {
          await world.apply(event, lease);
          expect(lease.signal.aborted).toBe(false);
          await world.rig.clock.settle();
          expect(() => lease.assertHeld()).not.toThrow();
        }
      }),
      { numRuns: 60 },
    );
  });
});
