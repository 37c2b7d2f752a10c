import { describe, expect, it, jest } from '@jest/globals';
import { MemoryLeaseStore } from '../../../../lib/stores/memory/memory-lease-store.js';
import { ManualClock } from '../../../../lib/testing/manual-clock.js';

const DAY_MS = 86_400_000;
const ask = (key: string, holderId = 'id-1', ttlMs = 1000) => ({ key, holderId, holderTag: `tag of ${holderId}`, holder: 'host:1', ttlMs });

/** Shows how much is kept. */
class OpenStore extends MemoryLeaseStore {
  get kept(): number {
    return this.leases.size + this.fences.size;
  }

  fenceOf(key: string, clock: ManualClock): number | undefined {
    return this.fences.get(key, clock.wall())?.token;
  }
}

describe('MemoryLeaseStore', () => {
  it('says what it is', () => {
    expect(new MemoryLeaseStore().capabilities).toEqual({ name: 'memory', shared: false, clock: 'process', wakeUp: 'push', fifo: true });
  });

  it('runs on the clock of the machine when it is given none', async () => {
    const granted = await new MemoryLeaseStore().acquire(ask('a'));
    expect(Math.abs(granted.fencingToken / 1000 - Date.now())).toBeLessThan(5000);
  });

  it('makes two instances strangers', async () => {
    const clock = new ManualClock();
    const [one, two] = [new MemoryLeaseStore({ clock }), new MemoryLeaseStore({ clock })];
    await one.acquire(ask('a'));
    expect(await two.inspect('a')).toBeUndefined();
    expect(await two.acquire(ask('a', 'id-2'))).toMatchObject({ kind: 'granted' });
  });

  it('serves several applications of one process as rivals, and closing one of them takes nothing from the other', async () => {
    const store = new MemoryLeaseStore({ clock: new ManualClock() });
    await store.acquire(ask('a'));
    await store.close();
    expect(await store.acquire(ask('a', 'id-2'))).toMatchObject({ kind: 'busy', holderTag: 'tag of id-1' });
  });

  it('goes by the wall clock, as Redis does: a suspended machine does not make a lease last longer', async () => {
    const clock = new ManualClock();
    const store = new MemoryLeaseStore({ clock });
    await store.acquire(ask('a'));
    clock.suspend(1000);
    expect(await store.inspect('a')).toBeUndefined();
  });

  it('decides at the call, so that calls are served in the order in which they were made', async () => {
    const store = new MemoryLeaseStore({ clock: new ManualClock() });
    const first = store.acquire(ask('a', 'id-1'));
    const left = store.leave(ask('a', 'id-1'));
    const second = store.acquire(ask('a', 'id-2'));
    expect((await first).kind).toBe('granted');
    await left;
    expect((await second).kind).toBe('granted');
  });

  it('never answers with what it keeps: changing an answer changes nothing', async () => {
    const store = new MemoryLeaseStore({ clock: new ManualClock() });
    await store.acquire(ask('a'));
    Object.assign((await store.inspect('a')) as object, { holderTag: 'changed' });
    expect((await store.inspect('a'))?.holderTag).toBe('tag of id-1');
  });

  it('sets no timer', async () => {
    const clock = new ManualClock();
    const setTimer = jest.spyOn(clock, 'setTimer');
    const store = new MemoryLeaseStore({ clock });
    const granted = await store.acquire(ask('a'));
    await store.renew([{ ...ask('a'), fencingToken: granted.fencingToken }]);
    store.onWake('process', () => undefined);
    expect(setTimer).not.toHaveBeenCalled();
  });

  it('remembers an idle key for as long as told', async () => {
    const clock = new ManualClock();
    const store = new OpenStore({ clock, fenceRetention: 10_000 });
    const first = await store.acquire(ask('a'));
    await store.leave(ask('a'));
    clock.advance(9999);
    expect(store.fenceOf('a', clock)).toBe(first.fencingToken);
    clock.advance(1);
    expect(store.fenceOf('a', clock)).toBeUndefined();
  });

  it('leaves nothing of the past: 25 million leaked counters were found in one production Redis', async () => {
    const clock = new ManualClock();
    const store = new OpenStore({ clock });
    for (let i = 0; i < 20_000; i++) {
      await store.acquire(ask(`job:${String(i)}`));
      if (i % 2) await store.leave(ask(`job:${String(i)}`));
    }
    expect(store.kept).toBeGreaterThanOrEqual(20_000);
    clock.advance(DAY_MS + 2000);
    for (let i = 0; i < 10_000; i++) {
      const { fencingToken } = await store.acquire(ask('one'));
      await store.release({ ...ask('one'), fencingToken });
    }
    expect(store.kept).toBe(1);
  });

  it('refuses to go on when there is no safe integer left, years from now', async () => {
    const store = new MemoryLeaseStore({ clock: new ManualClock({ wall: 2 ** 53 / 1000 + 1000 }) });
    await expect(store.acquire(ask('a'))).rejects.toMatchObject({ name: 'StoreError', kind: 'fatal' });
  });

  it('is not poisoned by a renewal with a token that no clock can have made', async () => {
    const store = new MemoryLeaseStore({ clock: new ManualClock() });
    const { fencingToken } = await store.acquire(ask('a'));
    expect(await store.renew([{ ...ask('a'), fencingToken: Number.MAX_SAFE_INTEGER }])).toMatchObject([{ kind: 'held' }]);
    await store.leave(ask('a'));
    expect((await store.acquire(ask('a'))).fencingToken).toBe(fencingToken + 1);
  });
});
