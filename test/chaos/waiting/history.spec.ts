import { describe, expect, it, jest } from '@jest/globals';
import { lostWakeUps, twoHolders, unserved } from './judge.js';
import { LineModel } from './line-model.js';
import { Storm } from './storm.js';

/** `npm run chaos:waiting -- [SECONDS] [--seed N]` sets these; without them: a few seconds with a fixed seed. */
const { WAITING_CHAOS_SEED: seed, WAITING_CHAOS_SECONDS: seconds } = process.env;
const forMs = Number(seconds ?? 6) * 1000;
jest.setTimeout(forMs + 60_000);

describe('waiters in processes that are killed, frozen and cut off', () => {
  it.each([Number(seed ?? 7)])('are served in order, one at a time, and nobody is forgotten (seed %d)', async (n) => {
    const history = await Storm.run({ seed: n, forMs, replicas: 4, keys: 2 });
    const { models, faults, asked, healedAt, settledAt } = history;
    if (seconds !== undefined)
      console.log(JSON.stringify({ seed: n, calls: asked.length, faults, settledMs: Math.round(settledAt - healedAt) }));
    expect(models.flatMap(({ violations }) => violations)).toEqual([]);
    expect(twoHolders(history)).toEqual([]);
    expect(lostWakeUps(history)).toEqual([]);
    expect(history.unsettled).toEqual([]);
    expect(unserved(history)).toEqual([]);
    expect(history.leftovers).toEqual([]);
    expect(history.replicas.flatMap(({ process }) => process.of('unhandled'))).toEqual([]);
    expect(models.reduce((sum, { steps }) => sum + steps.length, 0)).toBeGreaterThan(100);
    expect(Object.keys(faults).length).toBeGreaterThan(2);
  });
});

describe('the checker of the line finds', () => {
  const lease = 's:{k}';
  const model = (...commands: string[][]): string[] => {
    const line = new LineModel(lease);
    for (const args of commands) {
      if (args.length === 0) line.begin();
      else line.see({ at: 1000, args, source: 'lua' });
    }
    return line.violations;
  };
  const join = (ticket: number, who: string): string[] => ['ZADD', `${lease}:queue`, String(ticket), `p ${who} 1000 tag`];
  const gone = (who: string): string[] => ['ZREM', `${lease}:queue`, `p ${who} 1000 tag`];
  const lives = ['HSET', `${lease}:waiters`, 'p', '9000 host'];
  const value = (who: string, state: string, token = 5): string[] => ['SET', lease, `${who} ${String(token)} 1000 900 ${state} tag host`];

  it('nothing in an orderly hand-over', () => {
    expect(model(lives, join(1, 'a'), join(2, 'b'), [], gone('a'), value('a', 'r', 4), [], value('a', 'h'))).toEqual([]);
  });

  it.each([
    ['an offer past somebody', [lives, join(1, 'a'), join(2, 'b'), [], gone('b'), value('b', 'r', 4)]],
    ['a grant past the line', [lives, join(1, 'a'), [], value('x', 'h')]],
    ['one that was dropped though its process lives', [lives, join(1, 'a'), join(2, 'b'), [], gone('a'), gone('b'), value('b', 'r', 4)]],
    ['a token that fell', [value('x', 'h', 9), [], value('y', 'h', 8)]],
    ['a place that was lost', [join(1, 'a'), join(3, 'a')]],
  ])('%s', (_, commands) => {
    expect(model(...commands)).toHaveLength(1);
  });
});
