import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ACCEPT } from '../../../lib/fencing/redis/scripts/accept.script.js';
import { CHECK } from '../../../lib/fencing/redis/scripts/check.script.js';
import { DEL } from '../../../lib/fencing/redis/scripts/del.script.js';
import { HSET } from '../../../lib/fencing/redis/scripts/hset.script.js';
import { run } from '../../../lib/fencing/redis/scripts/run.script.js';
import { SET } from '../../../lib/fencing/redis/scripts/set.script.js';
import { hashTagOf } from '../../../lib/fencing/redis/fence-key.js';

const marks = (text: string): string[] => [...new Set(text.match(/\b(KEYS|ARGV)\[\d\]/g) ?? [])].sort();

describe('fenced scripts', () => {
  it.each(Object.entries({ check: CHECK, accept: ACCEPT, set: SET, hset: HSET, del: DEL, run: run('') }))(
    'the header of %s names every KEYS and ARGV that the script uses',
    (name, script) => {
      const header = readFileSync(new URL(`../../../lib/fencing/redis/scripts/${name}.script.ts`, import.meta.url), 'utf8').split('*/')[0]!;
      for (const mark of marks(script)) expect(header).toContain(mark);
      expect(header).toContain('Reply');
    },
  );
});

describe('hashTagOf', () => {
  it.each([
    ['a', 'a'],
    ['{a}b', 'a'],
    ['{}a', '{}a'],
    ['a{b', 'a{b'],
    ['{{a}}', '{a'],
    ['x{}{y}', 'x{}{y}'],
  ])('of %j is %j, as a Cluster reads it', (key, tag) => {
    expect(hashTagOf(key)).toBe(tag);
  });
});
