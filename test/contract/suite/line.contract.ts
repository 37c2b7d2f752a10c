import { describe, expect, it } from '@jest/globals';
import type { AcquireRequest, LeaseStore, Queued, WaitPlace, Wake } from '../../../lib/stores/lease-store.js';
import { waitFor } from '../../support/wait-for.js';
import {
  ask,
  busyOf,
  freshKey,
  grantedOf,
  holderOf,
  HOUR_MS,
  LONG,
  SHORT,
  storeErrorKind,
  take,
  type Features,
  type StoreHarness,
} from './harness.js';

/** Waits of one process, as an engine would ask for them. */
class Process {
  readonly told: string[] = [];
  private readonly subscription;

  constructor(
    private readonly store: LeaseStore,
    readonly name: string,
  ) {
    this.subscription = store.onWake(name, (wake: Wake) => this.told.push(wake.kind === 'offer' ? wake.holderId : wake.kind));
  }

  /** Notices of the key arrive from now on. */
  async ready(key: string): Promise<void> {
    await this.subscription.ready;
    await this.subscription.follow?.(key);
  }

  end(): void {
    this.subscription.unsubscribe();
  }

  request(key: string, place: Partial<WaitPlace> = {}, overrides: Partial<AcquireRequest> = {}): AcquireRequest {
    return ask(key, { ...overrides, wait: { process: this.name, claimMs: LONG, maxQueue: 0, ...place } });
  }

  async queue(key: string, place: Partial<WaitPlace> = {}): Promise<AcquireRequest & { ticket: number }> {
    const request = this.request(key, place);
    return { ...request, ticket: queuedOf(await this.store.acquire(request)).ticket };
  }

  async hears(request: AcquireRequest): Promise<void> {
    await waitFor(() => this.told.includes(request.holderId), { timeoutMs: 5000, message: 'the waiter was not told of its turn' });
  }
}

function queuedOf(result: Awaited<ReturnType<LeaseStore['acquire']>>): Queued {
  if (result.kind !== 'queued') throw new Error(`Expected a place in the line, got ${JSON.stringify(result)}`);
  return result;
}

/** Stores that keep a line of waiters. */
export function lineContract(harness: () => StoreHarness, features: Features): void {
  const each = async (run: (a: Process, b: Process, store: LeaseStore, key: string) => Promise<void>): Promise<void> => {
    const { store, rival } = harness();
    const key = freshKey('line');
    const a = new Process(store, `a-${key}`);
    const b = new Process(rival, `b-${key}`);
    await Promise.all([a.ready(key), b.ready(key)]);
    try {
      await run(a, b, store, key);
    } finally {
      a.end();
      b.end();
    }
  };

  describe('the line of waiters', () => {
    it('grants a free lease to one that would wait, without a place', () =>
      each(async (a, _, store, key) => {
        expect((await store.acquire(a.request(key))).kind).toBe('granted');
        expect((await store.inspect(key))?.waiters).toBe(0);
      }));

    it('serves in the order of arrival, across processes, each told when its turn has come', () =>
      each(async (a, b, store, key) => {
        const held = await take(store, key);
        const waiting = [await a.queue(key), await b.queue(key), await a.queue(key)];
        expect((await store.inspect(key))?.waiters).toBe(3);
        let last = held;
        for (const [i, next] of waiting.entries()) {
          await store.release(last);
          await (i === 1 ? b : a).hears(next);
          expect(await store.inspect(key)).toMatchObject({ state: 'reserved', holderTag: next.holderTag, waiters: 2 - i });
          const granted = grantedOf(await store.acquire({ ...next, wait: { ...(next.wait as WaitPlace), ticket: next.ticket } }));
          expect(granted.fencingToken).toBeGreaterThan(last.fencingToken);
          last = { ...next, fencingToken: granted.fencingToken, granted };
        }
        await store.release(last);
        expect(await store.inspect(key)).toBeUndefined();
      }));

    it('keeps the place of one that asks again, and its ticket', () =>
      each(async (a, b, store, key) => {
        const held = await take(store, key);
        const first = await a.queue(key);
        await b.queue(key);
        expect(queuedOf(await store.acquire(first)).ticket).toBe(first.ticket);
        expect((await store.inspect(key))?.waiters).toBe(2);
        await store.release(held);
        expect(await holderOf(store, key)).toBe(first.holderTag);
      }));

    it('a claim asked twice gets the same token', () =>
      each(async (a, _, store, key) => {
        const held = await take(store, key);
        const next = await a.queue(key);
        await store.release(held);
        const once = grantedOf(await store.acquire(next));
        expect(grantedOf(await store.acquire(next)).fencingToken).toBe(once.fencingToken);
      }));

    it('nobody takes what is offered: neither with nor without a wait', () =>
      each(async (a, b, store, key) => {
        const held = await take(store, key);
        const next = await a.queue(key);
        await store.release(held);
        expect(busyOf(await store.acquire(ask(key))).holderTag).toBe(next.holderTag);
        expect((await store.acquire(b.request(key))).kind).toBe('queued');
        expect(grantedOf(await store.acquire(next)).fencingToken).toBeGreaterThan(held.fencingToken);
      }));

    it('a lease that ran out is offered to the first of the line by whoever finds it, who is busy', () =>
      each(async (a, _, store, key) => {
        await take(store, key, { ttlMs: SHORT });
        const next = await a.queue(key);
        await harness().advance(SHORT + 5);
        expect(busyOf(await store.acquire(ask(key))).holderTag).toBe(next.holderTag);
        await a.hears(next);
        expect((await store.acquire(next)).kind).toBe('granted');
      }));

    it('the first of the line takes a lease that ran out when it looks', () =>
      each(async (a, b, store, key) => {
        await take(store, key, { ttlMs: SHORT });
        const next = await a.queue(key);
        await b.queue(key);
        await harness().advance(SHORT + 5);
        expect((await store.acquire(next)).kind).toBe('granted');
        expect((await store.inspect(key))?.waiters).toBe(1);
      }));

    it('one that leaves is passed over, and an offer that it had goes on', () =>
      each(async (a, b, store, key) => {
        const held = await take(store, key);
        const [first, second, third] = [await a.queue(key), await a.queue(key), await b.queue(key)];
        await store.leave(second);
        await store.release(held);
        expect(await holderOf(store, key)).toBe(first.holderTag);
        await store.leave(first);
        await store.leave(first);
        await b.hears(third);
        expect(await holderOf(store, key)).toBe(third.holderTag);
        await store.leave(third);
        expect(await store.inspect(key)).toBeUndefined();
      }));

    it('undoing an acquire, and an operator, pass the lease on', () =>
      each(async (a, _, store, key) => {
        const held = await take(store, key);
        const [first, second] = [await a.queue(key), await a.queue(key)];
        await store.leave(held);
        expect(await holderOf(store, key)).toBe(first.holderTag);
        grantedOf(await store.acquire(first));
        expect(await store.forceRelease(key)).toMatchObject({ holderTag: first.holderTag, waiters: 1 });
        await a.hears(second);
        expect(await holderOf(store, key)).toBe(second.holderTag);
      }));

    it('an offer that is not claimed costs one claim for a whole process; it comes back with its tickets', () =>
      each(async (a, b, store, key) => {
        const held = await take(store, key);
        const dead = [await a.queue(key, { claimMs: SHORT }), await a.queue(key, { claimMs: SHORT }), await a.queue(key)];
        const live = [await b.queue(key), await b.queue(key)];
        await store.release(held);
        await harness().advance(SHORT + 5);
        const taken = grantedOf(await store.acquire(live[0] as AcquireRequest));
        expect(taken.fencingToken).toBeGreaterThan(held.fencingToken);
        const again = dead[1] as AcquireRequest & { ticket: number };
        const place = { ...(again.wait as WaitPlace), ticket: again.ticket };
        expect(queuedOf(await store.acquire({ ...again, wait: place })).ticket).toBe(again.ticket);
        await store.release({ ...(live[0] as AcquireRequest), fencingToken: taken.fencingToken });
        expect(await holderOf(store, key)).toBe(again.holderTag);
      }));

    it('a late claim of an offer that has lapsed is an ordinary place in the line', () =>
      each(async (a, b, store, key) => {
        const held = await take(store, key);
        const slow = await a.queue(key, { claimMs: SHORT });
        await store.release(held);
        await harness().advance(SHORT + 5);
        grantedOf(await store.acquire(b.request(key)));
        expect((await store.acquire({ ...slow, wait: { ...(slow.wait as WaitPlace), ticket: slow.ticket } })).kind).toBe('queued');
      }));

    it('with a line of maxQueue a further one is busy, those in it are not', () =>
      each(async (a, b, store, key) => {
        await take(store, key);
        const first = await a.queue(key, { maxQueue: 2 });
        await b.queue(key, { maxQueue: 2 });
        busyOf(await store.acquire(a.request(key, { maxQueue: 2 })));
        queuedOf(await store.acquire(first));
        expect((await store.inspect(key))?.waiters).toBe(2);
      }));

    it('attend: keeps a process, knows a stranger as forgotten, and tells of an offer whose notice was lost', () =>
      each(async (a, b, store, key) => {
        const held = await take(store, key, { ttlMs: 20_000 });
        const next = await a.queue(key);
        const words = [
          { key, process: a.name },
          { key, process: b.name },
        ];
        const [known, unknown] = await store.attend(words);
        expect(known).toMatchObject({ kind: 'kept' });
        expect(known?.remainingMs).toBeGreaterThan(10_000);
        expect(unknown).toMatchObject({ kind: 'forgotten' });
        await store.release(held);
        expect((await store.attend(words)).map((answer) => answer?.offered)).toEqual([next.holderId, undefined]);
      }));

    it('a claim that is refused leaves the offer, which its leaving passes on', () =>
      each(async (a, b, store, key) => {
        const held = await take(store, key);
        const [first, second] = [await a.queue(key), await b.queue(key)];
        await store.release(held);
        expect(await storeErrorKind(store.acquire({ ...first, floor: Number.MAX_SAFE_INTEGER - 10 }))).toBe('floor');
        expect(await store.inspect(key)).toMatchObject({ state: 'reserved', holderTag: first.holderTag });
        await store.leave(first);
        await b.hears(second);
        expect((await store.acquire(second)).kind).toBe('granted');
      }));

    it('one that leaves after the lease ran out sees to it that the line goes on', () =>
      each(async (a, b, store, key) => {
        await take(store, key, { ttlMs: SHORT });
        const [first, second] = [await a.queue(key), await b.queue(key)];
        await harness().advance(SHORT + 5);
        await store.leave(first);
        await b.hears(second);
        expect(await holderOf(store, key)).toBe(second.holderTag);
      }));

    it('never tells a waiter who the others are', () =>
      each(async (a, b, store, key) => {
        const held = await take(store, key);
        const [first, second] = [await a.queue(key), await b.queue(key)];
        await store.release(held);
        const said = JSON.stringify([
          await store.inspect(key),
          await store.acquire(second),
          await store.attend([{ key, process: b.name }]),
        ]);
        expect(said).not.toContain(first.holderId);
      }));

    if (features.virtualTime)
      it('a process that says nothing for ten seconds is passed over, one that attends is not', () =>
        each(async (a, b, store, key) => {
          const held = await take(store, key);
          await a.queue(key);
          const attentive = await b.queue(key);
          for (let i = 0; i < 4; i++) {
            await harness().advance(3000);
            await store.attend([{ key, process: b.name }]);
          }
          await store.release(held);
          expect(await holderOf(store, key)).toBe(attentive.holderTag);
        }));

    if (features.virtualTime)
      it('a process that was passed over hears that it was forgotten, and comes back with its tickets', () =>
        each(async (a, b, store, key) => {
          const held = await take(store, key, { ttlMs: HOUR_MS });
          const paused = [await a.queue(key), await a.queue(key)];
          const next = await b.queue(key);
          for (let i = 0; i < 4; i++) {
            await harness().advance(3000);
            await store.attend([{ key, process: b.name }]);
          }
          await store.release(held);
          expect(await holderOf(store, key)).toBe(next.holderTag);
          expect((await store.attend([{ key, process: a.name }]))[0]).toMatchObject({ kind: 'forgotten' });
          const granted = grantedOf(await store.acquire(next));
          for (const one of paused) {
            const place = { ...(one.wait as WaitPlace), ticket: one.ticket };
            expect(queuedOf(await store.acquire({ ...one, wait: place })).ticket).toBe(one.ticket);
          }
          await store.release({ ...next, fencingToken: granted.fencingToken });
          expect(await holderOf(store, key)).toBe(paused[0]?.holderTag);
        }));

    if (features.virtualTime)
      it('waiters of a dead process keep nobody out of a line of maxQueue', () =>
        each(async (a, b, store, key) => {
          await take(store, key, { ttlMs: HOUR_MS });
          await a.queue(key, { maxQueue: 2 });
          await a.queue(key, { maxQueue: 2 });
          busyOf(await store.acquire(b.request(key, { maxQueue: 2 })));
          await harness().advance(11_000);
          await b.queue(key, { maxQueue: 2 });
          expect((await store.inspect(key))?.waiters).toBe(1);
        }));

    const { immortal } = features;
    if (immortal)
      it('leaves nothing without a time to live, and no line behind when nobody waits', () =>
        each(async (a, _, store, key) => {
          const held = await take(store, key);
          const next = await a.queue(key);
          expect(await harness().immortal?.()).toEqual([]);
          await store.release(held);
          const granted = grantedOf(await store.acquire(next));
          await store.release({ ...next, fencingToken: granted.fencingToken });
          expect(await harness().immortal?.()).toEqual([]);
        }));
  });
}
