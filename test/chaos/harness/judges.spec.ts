import { describe, expect, it } from '@jest/globals';
import type { Grant, History, Pass, Stay } from './history.js';
import {
  longestGaps,
  lostOrStale,
  notServed,
  overlaps,
  passedUnheld,
  ranNever,
  ranTwice,
  staleAccepted,
  tokensNotRising,
  unfenced,
} from './judges.js';
import type { Audited } from './resource.js';

const history = (more: Partial<History>): History => ({
  ...{
    keys: ['k'],
    ttlMs: 1500,
    votes: 1,
    dead: 0,
    scheduled: true,
    healedAt: 10_000,
    endedAt: 20_000,
    rows: { fenced: {}, plain: {}, set: [] },
  },
  ...{ grants: [], passes: [], stays: [], amnesia: [], runs: [], audited: [], line: [], endless: [], crashes: [] },
  ...more,
});
const grant = (token: number, more: Partial<Grant> = {}): Grant => ({
  ...{ client: 'c1', key: 'k', token, tag: `t${String(token)}`, askedAt: token * 100, at: token * 100 + 10 },
  ...more,
});
const write = (token: number, element: number, more: Partial<Audited> = {}): Audited => ({
  ...{ op: 'write', key: 'k', token, tag: `t${String(token)}`, element, register: true, set: true, at: 0 },
  ...more,
});
const rows = (fenced: number[], set = fenced, plain = fenced): History['rows'] => ({
  fenced: { k: { counter: fenced.length, elements: fenced } },
  plain: { k: { counter: plain.length, elements: plain } },
  set: set.map((element) => ({ key: 'k', element, token: 1 })),
});

describe('I1', () => {
  it('holds where tokens rise, a holder writes twice, and what is older is refused', () => {
    const audited = [write(1, 1), write(1, 2), write(2, 3), write(1, 4, { register: false, set: false })];
    expect(staleAccepted(history({ audited }))).toEqual([]);
  });
  it('is broken by a resource that accepts a lower token, in the row or in the set', () => {
    expect(staleAccepted(history({ audited: [write(2, 1), write(1, 2, { set: false })] }))).toHaveLength(1);
    expect(staleAccepted(history({ audited: [write(2, 1), write(1, 2, { register: false })] }))).toHaveLength(1);
  });
  it('is broken by the same token of two holders', () => {
    expect(staleAccepted(history({ audited: [write(2, 1), write(2, 2, { tag: 'other', set: false })] }))).toHaveLength(1);
  });
  it('is broken by a lower token after a read, which claims the row', () => {
    const read = write(5, 0, { op: 'read', set: false });
    expect(staleAccepted(history({ audited: [read, write(4, 1, { set: false })] }))).toHaveLength(1);
  });
});

describe('acknowledged writes', () => {
  it('are there, and refused ones are not', () => {
    expect(
      lostOrStale(history({ audited: [write(1, 1), write(2, 2), write(1, 3, { register: false, set: false })], rows: rows([1, 2]) })),
    ).toEqual([]);
  });
  it('are found missing in the row, in the set, and by the counter', () => {
    const audited = [write(1, 1), write(2, 2)];
    expect(lostOrStale(history({ audited, rows: rows([2], [1, 2]) }))).toHaveLength(2);
    expect(lostOrStale(history({ audited, rows: rows([1, 2], [2]) }))).toHaveLength(1);
  });
  it('are found when they were refused and are there all the same', () => {
    const audited = [write(1, 1), write(2, 2, { register: false, set: false })];
    expect(lostOrStale(history({ audited, rows: rows([1], [1, 2]) }))).toHaveLength(1);
    expect(lostOrStale(history({ audited, rows: rows([1, 2], [1]) })).length).toBeGreaterThan(0);
  });
  it('are found when they are there twice', () => {
    expect(lostOrStale(history({ audited: [write(1, 1)], rows: rows([1], [1, 1]) }))).toHaveLength(1);
  });
});

describe('I2', () => {
  it('holds where each lease has a higher token', () => {
    expect(tokensNotRising(history({ grants: [grant(1), grant(2), grant(3)] }))).toEqual([]);
  });
  it('says nothing of two that were asked for at the same time', () => {
    expect(tokensNotRising(history({ grants: [grant(2, { askedAt: 0, at: 50 }), grant(1, { askedAt: 10, at: 60 })] }))).toEqual([]);
  });
  it('is broken by a token given twice', () => {
    expect(tokensNotRising(history({ grants: [grant(1), grant(1, { tag: 'other', askedAt: 0 })] }))).toHaveLength(1);
  });
  it('is broken by a lower token for somebody who asked later', () => {
    expect(tokensNotRising(history({ grants: [grant(5), grant(4, { askedAt: 900, at: 950 })] }))).toHaveLength(1);
    expect(tokensNotRising(history({ grants: [grant(5), grant(4, { askedAt: 900, at: 950, key: 'another' })] }))).toEqual([]);
  });
});

describe('I3', () => {
  const stay = (from: number, to: number, more: Partial<Stay> = {}): Stay => ({
    node: 0,
    key: 'k',
    tag: 't1',
    token: 1,
    from,
    to,
    ...more,
  });
  const pass = (at: number): Pass => ({ client: 'c1', key: 'k', token: 1, tag: 't1', at });
  const judge = (at: number, stays: Stay[], more: Partial<History> = {}): ReturnType<typeof passedUnheld> =>
    passedUnheld(history({ grants: [grant(1)], passes: [pass(at)], stays, ...more }));

  it('holds while the store has the lease', () => {
    expect(judge(1000, [stay(110, 2000)])).toEqual({ violations: [], judged: 1, excused: 0 });
  });
  it('is broken by a client that goes on when the store has ended, passed on, or never had its lease', () => {
    expect(judge(2100, [stay(110, 2000)]).violations).toHaveLength(1);
    expect(judge(1000, [stay(110, 2000, { tag: 'other' })]).violations).toHaveLength(1);
    expect(judge(1000, []).violations).toHaveLength(1);
  });
  it('is broken where fewer nodes than needed have it', () => {
    const stays = [stay(110, 2000), stay(110, 900, { node: 1 }), stay(110, 2000, { node: 2 })];
    expect(judge(800, stays, { votes: 3 }).violations).toEqual([]);
    expect(judge(1000, stays, { votes: 3 }).violations).toHaveLength(1);
    expect(judge(1000, [stay(110, 2000), stay(120, 2000)], { votes: 2 }).violations).toHaveLength(1);
  });
  it('has an excuse until the soft deadline after the store forgot, and not for another key, nor for a later lease', () => {
    const forgot = { kind: 'restart-empty', from: 900, until: 1000 };
    const stays = [stay(110, 900)];
    expect(judge(1900, stays, { amnesia: [forgot] })).toMatchObject({ violations: [], excused: 1 });
    expect(judge(2100, stays, { amnesia: [forgot] }).violations).toHaveLength(1);
    expect(judge(1900, stays, { amnesia: [{ ...forgot, key: 'another' }] }).violations).toHaveLength(1);
    expect(judge(1900, stays, { amnesia: [forgot], grants: [grant(1, { askedAt: 1100 })] }).violations).toHaveLength(1);
  });
});

describe('I4', () => {
  it('holds where somebody has the lease soon after the faults, newly or still', () => {
    expect(notServed(history({ grants: [grant(1, { at: 12_000 })] }))).toEqual([]);
    expect(notServed(history({ passes: [{ ...grant(1), at: 10_100 }] }))).toEqual([]);
  });
  it('is broken where nobody has, or late', () => {
    expect(notServed(history({}))).toHaveLength(1);
    expect(notServed(history({ grants: [grant(1, { at: 9000 })] }))).toHaveLength(1);
    expect(notServed(history({ grants: [grant(1, { at: 16_000 })] }))).toHaveLength(1);
    expect(notServed(history({ grants: [grant(1, { at: 16_000 })], dead: 2 }))).toEqual([]);
  });
});

describe('an instant of the job', () => {
  const run = (instant: number, at: number, client: string): History['runs'][number] => ({ instant, token: 1, at, client });
  it('runs once', () => {
    expect(ranTwice(history({ runs: [run(1, 1, 'a'), run(2, 2, 'b')] }))).toEqual([]);
  });
  it('is found where it ran twice, unless the store forgot in between', () => {
    const runs = [run(1, 1000, 'a'), run(1, 1500, 'b')];
    expect(ranTwice(history({ runs }))).toHaveLength(1);
    expect(ranTwice(history({ runs, amnesia: [{ kind: 'restart-empty', from: 1100, until: 1200 }] }))).toEqual([]);
    expect(ranTwice(history({ runs, amnesia: [{ kind: 'restart-empty', from: 1600, until: 1700 }] }))).toHaveLength(1);
    expect(ranTwice(history({ runs, amnesia: [{ kind: 'delete-lease', key: 'k', from: 1100, until: 1200 }] }))).toHaveLength(1);
  });
});

describe('an instant that nobody ran', () => {
  const runs = [16_000, 17_000, 18_000].map((instant) => ({ instant, token: 1, at: instant, client: 'a' }));
  it('is found after the faults, where a job is run at all', () => {
    expect(ranNever(history({ runs }))).toEqual([]);
    expect(ranNever(history({ runs: runs.slice(1) }))).toHaveLength(1);
    expect(ranNever(history({ runs: [] }))).toHaveLength(3);
    expect(ranNever(history({ runs: [], scheduled: false }))).toEqual([]);
  });
});

describe('two at once', () => {
  const pass = (token: number, at: number): Pass => ({ client: 'c1', key: 'k', token, tag: `t${String(token)}`, at });
  it('are counted: checks that passed when a newer lease was had', () => {
    const grants = [grant(1, { at: 100 }), grant(2, { at: 200 })];
    expect(overlaps(history({ grants, passes: [pass(1, 150), pass(2, 250)] }))).toBe(0);
    expect(overlaps(history({ grants, passes: [pass(1, 150), pass(1, 201), pass(1, 300), pass(2, 300)] }))).toBe(2);
    expect(overlaps(history({ grants, passes: [{ ...pass(1, 300), key: 'another' }] }))).toBe(0);
  });
});

describe('the longest time without a holder', () => {
  it('is measured between grants and checks that passed', () => {
    const passes = [{ ...grant(1), at: 350 }];
    expect(longestGaps(history({ grants: [grant(1, { at: 100 }), grant(2, { at: 900 })], passes }))).toEqual({ k: 550 });
  });
});

describe('what no fence protects', () => {
  it('is counted: late writes, and elements that somebody overwrote', () => {
    const audited = [write(1, 1), write(3, 3), write(2, 2), write(4, 4)];
    expect(unfenced(history({ audited, rows: rows([1, 3, 4], [], [1, 2, 4]) }), 'k')).toEqual({ writes: 4, late: 1, lost: 1 });
  });
});
