import { describe, expect, it } from '@jest/globals';
import { LineModel } from './line-model.js';

const lease = 's:{k}';
const member = (who: string): string => `p ${who} 1000 tag`;
const join = (ticket: number, who: string): string[] => ['ZADD', `${lease}:queue`, String(ticket), member(who)];
const gone = (who: string): string[] => ['ZREM', `${lease}:queue`, member(who)];
const lives = ['HSET', `${lease}:waiters`, 'p', '9000 host'];
const lapse = ['HDEL', `${lease}:waiters`, '!', 'p'];
const freed = ['DEL', lease];
const value = (who: string, state: string, token = 5): string[] => ['SET', lease, `${who} ${String(token)} 1000 900 ${state} tag host`];
/** A script begins, for these places among others. */
const script = (...args: string[]): string[] => ['EVALSHA', 'sha', ...args];

function violations(...commands: string[][]): string[] {
  const line = new LineModel(lease);
  for (const args of commands) {
    if (args[0] === 'EVALSHA') line.begin(args);
    else line.see({ at: 1000, args, source: 'lua' });
  }
  return line.violations;
}

describe('the checker of the line finds', () => {
  it.each([
    ['in an orderly hand-over', [lives, join(1, 'a'), join(2, 'b'), script(), gone('a'), value('a', 'r', 4), script(), value('a', 'h')]],
    [
      'when the first of the line leaves a free lease, and the next one gets it in the same script',
      [lives, join(1, 'a'), join(2, 'b'), script(member('a')), gone('a'), gone('b'), value('b', 'r', 4)],
    ],
    [
      'when a wait is cancelled and a lease given back in one script',
      [value('x', 'h', 4), lives, join(1, 'a'), join(2, 'b'), script(member('a')), gone('a'), freed, gone('b'), value('b', 'r', 4)],
    ],
    [
      'when one that was offered the lease gives it up in the script that offered it',
      [lives, join(1, 'a'), join(2, 'b'), script(member('a')), gone('a'), value('a', 'r', 4), freed, gone('b'), value('b', 'r', 4)],
    ],
    ['when an offer lapsed and whoever asks takes it', [lives, join(1, 'a'), join(2, 'b'), script(), lapse, gone('b'), value('b', 'h')]],
    ['when a lease is extended', [lives, value('x', 'h', 9), script(), join(1, 'a'), script(), value('x', 'h', 9)]],
  ])('nothing %s', (_, commands) => {
    expect(violations(...commands)).toEqual([]);
  });

  it.each([
    ['an offer past somebody', [lives, join(1, 'a'), join(2, 'b'), script(), gone('b'), value('b', 'r', 4)]],
    ['an offer to somebody who does not wait', [script(), value('b', 'r', 4)]],
    ['a grant past the line', [lives, join(1, 'a'), script(), value('x', 'h')]],
    ['one dropped though its process lives', [lives, join(1, 'a'), join(2, 'b'), script(), gone('a'), gone('b'), value('b', 'r', 4)]],
    [
      'one dropped beside another that left by itself',
      [lives, join(1, 'a'), join(2, 'b'), join(3, 'c'), script(member('a')), gone('a'), gone('b'), gone('c'), value('c', 'r', 4)],
    ],
    ['a process taken for dead', [lives, join(1, 'a'), script(), ['HDEL', `${lease}:waiters`, 'p']]],
    [
      'a grant past the line after the lapse of another request of the script',
      [lives, join(1, 'a'), join(2, 'b'), script(), lapse, gone('a'), value('a', 'h', 5), freed, value('x', 'h', 6)],
    ],
    ['a token that fell', [value('x', 'h', 9), script(), value('y', 'h', 8)]],
    ['a place that was lost', [join(1, 'a'), join(3, 'a')]],
  ])('%s', (_, commands) => {
    expect(violations(...commands)).toHaveLength(1);
  });
});
