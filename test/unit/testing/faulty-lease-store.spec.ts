import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryLeaseStore } from '../../../lib/stores/memory/memory-lease-store.js';
import type { InstantStore } from '../../../lib/stores/instant-store.js';
import type { EffectStore } from '../../../lib/stores/effect-store.js';
import type { JobStore } from '../../../lib/stores/job-store.js';
import type { QuorumNode } from '../../../lib/stores/quorum-node.js';
import { FaultyLeaseStore, type StoreVerb } from '../../../lib/testing/faulty-lease-store.js';
import { ManualClock } from '../../../lib/testing/manual-clock.js';

const request = { key: 'job:1', holderId: 'id-1', holderTag: 'tag-1', holder: 'host:1', ttlMs: 1000 };

describe('FaultyLeaseStore', () => {
  let clock: ManualClock;
  let inner: MemoryLeaseStore;
  let faulty: FaultyLeaseStore;

  beforeEach(() => {
    clock = new ManualClock();
    inner = new MemoryLeaseStore({ clock });
    faulty = new FaultyLeaseStore(inner, { clock });
  });

  /** What has become of a call when nothing more can happen at this time. */
  async function stateOf(call: Promise<unknown>): Promise<unknown> {
    let state: unknown = 'pending';
    call.then(
      (value) => (state = value),
      (error: unknown) => (state = { rejected: error }),
    );
    await clock.settle();
    return state;
  }

  it('passes everything through when nothing is planned', async () => {
    expect(faulty.capabilities).toBe(inner.capabilities);
    const granted = await faulty.acquire(request);
    expect(granted).toMatchObject({ kind: 'granted' });
    const held = { ...request, fencingToken: granted.fencingToken };
    expect(await faulty.renew([held])).toMatchObject([{ kind: 'held' }]);
    expect(await faulty.inspect('job:1')).toEqual(await inner.inspect('job:1'));
    expect(await faulty.forceRelease('job:1')).toMatchObject({ holderTag: 'tag-1' });
    expect(await faulty.release(held)).toEqual({ kind: 'not-held' });
    await faulty.leave(request);
    await faulty.ping();
    faulty.unanswered();
    faulty.onWake('process', () => undefined).unsubscribe();
    await faulty.close();
  });

  it('drops the request: the store never hears of it, and the call never settles', async () => {
    faulty.dropRequest('acquire');
    expect(await stateOf(faulty.acquire(request))).toBe('pending');
    expect(await inner.inspect('job:1')).toBeUndefined();
  });

  it('drops the reply: the store has done it, and the call never settles', async () => {
    faulty.dropReply('acquire');
    expect(await stateOf(faulty.acquire(request))).toBe('pending');
    expect(await inner.inspect('job:1')).toMatchObject({ holderTag: 'tag-1' });
  });

  it('drops the reply of a call that fails too', async () => {
    const failing = new FaultyLeaseStore(new FaultyLeaseStore(inner).fail('ping', new Error('no')));
    expect(await stateOf(failing.dropReply('ping').ping())).toBe('pending');
  });

  it('delays the request: applied and answered only after the time', async () => {
    faulty.delay('acquire', 500);
    const call = faulty.acquire(request);
    await clock.advanceAsync(499);
    expect(await stateOf(call)).toBe('pending');
    expect(await inner.inspect('job:1')).toBeUndefined();
    await clock.advanceAsync(1);
    expect(await stateOf(call)).toMatchObject({ kind: 'granted' });
    expect((await inner.inspect('job:1'))?.remainingMs).toBe(1000);
  });

  it('delays the reply: applied at once, answered only after the time', async () => {
    faulty.delayReply('acquire', 500);
    const call = faulty.acquire(request);
    expect(await stateOf(call)).toBe('pending');
    await clock.advanceAsync(500);
    expect(await stateOf(call)).toMatchObject({ kind: 'granted' });
    expect((await inner.inspect('job:1'))?.remainingMs).toBe(500);
  });

  it('delays the reply of a call that fails too', async () => {
    const error = new Error('no');
    const failing = new FaultyLeaseStore(new FaultyLeaseStore(inner).fail('ping', error), { clock });
    const call = failing.delayReply('ping', 10).ping();
    expect(await stateOf(call)).toBe('pending');
    await clock.advanceAsync(10);
    expect(await stateOf(call)).toEqual({ rejected: error });
  });

  it('fails with the error given, whatever it is, and the store never hears of it', async () => {
    const error = new Error('ECONNRESET');
    faulty.fail('acquire', error).fail('acquire', 'a string');
    expect(await stateOf(faulty.acquire(request))).toEqual({ rejected: error });
    expect(await stateOf(faulty.acquire(request))).toEqual({ rejected: 'a string' });
    expect(await inner.inspect('job:1')).toBeUndefined();
  });

  it('concerns the next n calls of that verb only, in the order in which the faults were told', async () => {
    faulty.fail('ping', 'first', 2).dropRequest('ping').fail('ping', 'last');
    await faulty.acquire(request);
    const states = [];
    for (let i = 0; i < 5; i++) states.push(await stateOf(faulty.ping()));
    expect(states).toEqual([{ rejected: 'first' }, { rejected: 'first' }, 'pending', { rejected: 'last' }, undefined]);
  });

  it('goes on for ever with Infinity, until it is healed', async () => {
    faulty.fail('ping', 'down', Infinity).fail('inspect', 'down', Infinity);
    for (let i = 0; i < 20; i++) expect(await stateOf(faulty.ping())).toEqual({ rejected: 'down' });
    faulty.heal('ping');
    expect(await stateOf(faulty.ping())).toBeUndefined();
    expect(await stateOf(faulty.inspect('job:1'))).toEqual({ rejected: 'down' });
    faulty.heal();
    expect(await stateOf(faulty.inspect('job:1'))).toBeUndefined();
  });

  it.each<StoreVerb>([
    'acquire',
    'renew',
    'release',
    'leave',
    'inspect',
    'forceRelease',
    'ping',
    'begin',
    'finish',
    'history',
    'attend',
    'findEffect',
    'startEffect',
    'settleEffect',
    'acquireFirst',
    'coolDown',
    'confirm',
    'renewNode',
    'recall',
  ])('reaches every verb: %s', async (verb) => {
    faulty.fail(verb, 'told to');
    const held = { ...request, fencingToken: 1 };
    const instants = faulty.instants as InstantStore;
    const effects = faulty.effects as EffectStore;
    const jobs = faulty.jobs as JobStore;
    const node = faulty.quorumNode as QuorumNode;
    const call: Record<StoreVerb, () => Promise<unknown>> = {
      acquire: () => faulty.acquire(request),
      renew: () => faulty.renew([held]),
      release: () => faulty.release(held),
      leave: () => faulty.leave(request),
      inspect: () => faulty.inspect('job:1'),
      forceRelease: () => faulty.forceRelease('job:1'),
      ping: () => faulty.ping(),
      attend: () => faulty.attend([]),
      begin: () => instants.begin({ ...request, instant: 1, schedule: '', lifeMs: 1000, purpose: 'due', rerun: false }),
      finish: () => instants.finish({ ...held, outcome: 'ok', atLeastForMs: 0, lifeMs: 1000 }),
      history: () => instants.history('job:1'),
      findEffect: () => effects.find('job:1'),
      startEffect: () => effects.start({ ...request, keepMs: 1000, rerun: false }),
      settleEffect: () => effects.settle({ ...request, outcome: 'done', text: '', keepMs: 1000 }),
      acquireFirst: () => jobs.acquireFirst({ ...request, candidates: [{ key: 'job:1' }] }),
      coolDown: () => jobs.coolDown({ ...held, cooldownMs: 1000 }),
      confirm: () => node.confirm({ ...held, memory: false }),
      renewNode: () => node.renew([held]),
      recall: () => node.recall({ key: 'job:1', memory: false }),
    };
    await expect(call[verb]()).rejects.toBe('told to');
    await call[verb]();
    expect(faulty.calls(verb)).toHaveLength(2);
  });

  it('records what was asked, with calls that went wrong', async () => {
    faulty.dropRequest('acquire');
    void faulty.acquire(request);
    await faulty.acquire({ ...request, holderId: 'id-2' });
    expect(faulty.calls('acquire').map(({ holderId }) => holderId)).toEqual(['id-1', 'id-2']);
    expect(faulty.calls('renew')).toEqual([]);
  });

  it.each([0, -1, NaN])('refuses a fault for %d calls', (n) => {
    expect(() => faulty.dropReply('renew', n)).toThrow(RangeError);
  });
});
