import { describe, expect, it } from '@jest/globals';
import type { ChildMessage, TestProcess } from '../../support/process.js';
import { lostWakeUps, twoHolders, unserved } from './judge.js';
import { LineModel } from './line-model.js';
import type { Asked, History, Replica } from './storm.js';
import type { WaitOrder } from './waiter.process.js';

const lease = 'storm:{k0}';
const replica = (messages: ChildMessage[], more: Partial<Replica> = {}): Replica => ({
  process: { messages } as unknown as TestProcess,
  proxy: undefined as unknown as Replica['proxy'],
  troubles: [],
  ready: true,
  killed: false,
  ...more,
});
const held = (id: string, token: number, from: number, to: number): ChildMessage[] => [
  { type: 'granted', id, token, at: from },
  { type: 'ends', id, token, at: to, held: true },
  { type: 'released', id, token, at: to },
];
const order = (id: string, more: Partial<WaitOrder> = {}): WaitOrder => ({ type: 'wait', id, key: 'k0', ttl: '1s', wait: '10m', ...more });

/** One key, the calls of these processes, and when the server granted. */
function history(asked: readonly Asked[], grants: readonly number[] = []): History {
  const model = new LineModel(lease);
  grants.forEach((at, i) => model.steps.push({ at, kind: 'granted', holderId: `h${String(i)}`, token: i + 1 }));
  const replicas = [...new Set(asked.map((one) => one.replica))];
  return { models: [model], asked, replicas, faults: {}, healedAt: 0, settledAt: 0, unsettled: [], leftovers: [] };
}

describe('two holders at once', () => {
  const of = (...spans: ChildMessage[][]): string[] => {
    const one = replica(spans.flat());
    return twoHolders(history(spans.map(([first]) => ({ order: order(String(first?.id)), replica: one, at: 0 }))));
  };

  it('are not found where one follows the other', () => {
    expect(of(held('a', 1, 100, 200), held('b', 2, 200, 300))).toEqual([]);
  });
  it('are found, also when one began and ended within the other', () => {
    expect(of(held('a', 1, 100, 200), held('b', 2, 199, 300))).toHaveLength(1);
    expect(of(held('a', 1, 100, 1000), held('b', 2, 200, 300), held('c', 3, 400, 500))).toHaveLength(2);
  });
  it('are found by tokens that do not rise', () => {
    expect(of(held('a', 2, 100, 200), held('b', 2, 300, 400))).toHaveLength(1);
  });
  it('are not found where a lease was lost before the next began', () => {
    expect(
      of([{ ...held('a', 1, 100, 200)[0] } as ChildMessage, { type: 'ends', id: 'a', held: false, at: 900 }], held('b', 2, 200, 300)),
    ).toEqual([]);
  });
});

describe('a lost wake-up', () => {
  const waiting = (more: Partial<Replica> = {}, about: Partial<WaitOrder> = {}): string[] =>
    lostWakeUps(history([{ order: order('w', about), replica: replica(held('w', 2, 5000, 5010), more), at: 0 }], [1000, 5000]));

  it('is found: nobody held the lease for longer than a ttl, and somebody waited all the time', () => {
    expect(waiting()).toHaveLength(1);
  });
  it('is not found where nobody waited, or only one that was in trouble or would be cancelled', () => {
    expect(lostWakeUps(history([], [1000, 5000]))).toEqual([]);
    expect(waiting({ troubles: [{ from: 1500, until: 2000 }] })).toEqual([]);
    expect(waiting({}, { cancelMs: 300 })).toEqual([]);
  });
  it('is not found where the next grant came in time', () => {
    expect(lostWakeUps(history([{ order: order('w'), replica: replica(held('w', 2, 2500, 2510)), at: 0 }], [1000, 2500]))).toEqual([]);
  });
  it('may take one claim longer for each process in trouble, and no more', () => {
    const dead = { order: order('d'), replica: replica([], { troubles: [{ from: 900, until: Infinity }], killed: true }), at: 0 };
    const witness = (at: number): Asked => ({ order: order('w'), replica: replica(held('w', 2, at, at + 10)), at: 0 });
    expect(lostWakeUps(history([dead, witness(3500)], [1000, 3500]))).toEqual([]);
    expect(lostWakeUps(history([dead, witness(4500)], [1000, 4500]))).toHaveLength(1);
  });
});

describe('a call that was not served', () => {
  const outcome = (message: ChildMessage | undefined, more: Partial<Replica> = {}, about: Partial<WaitOrder> = {}): string[] =>
    unserved(history([{ order: order('w', about), replica: replica(message ? [message] : [], more), at: 0 }]));

  it('is found: without an outcome, or failed', () => {
    expect(outcome(undefined)).toHaveLength(1);
    expect(outcome({ type: 'failed', id: 'w', code: 'LEASE_BUSY' })).toHaveLength(1);
    expect(outcome({ type: 'released', id: 'another' })).toHaveLength(1);
  });
  it('is not found where it was served, or may end otherwise: cancelled, or of a process that was killed', () => {
    expect(outcome({ type: 'released', id: 'w' })).toEqual([]);
    expect(outcome({ type: 'failed', id: 'w' }, {}, { cancelMs: 5 })).toEqual([]);
    expect(outcome(undefined, { killed: true })).toEqual([]);
  });
});
