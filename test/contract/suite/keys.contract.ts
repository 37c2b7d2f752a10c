import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { freshKey, holderOf, PATIENCE_MS, take, type Features, type StoreHarness, type Taken } from './harness.js';

/** Keys that some encoding somewhere would take for each other, or for something else. */
const WEIRD = [
  ...['a', 'A', ' a', 'a ', 'a\n', 'a\r\n', 'a\u0000', '\u0000', 'a:b', 'a%3Ab', 'a%253Ab', 'a\\:b', 'a/b', 'a;b', 'a|b', 'a,b'],
  ...['{', '}', '{}', '{a}', '{{a}}', '}a{', 'a}', 'a}b', '{a}b', '%7B', '%7b', '%257B', '%', '%%', '%s', '%.0f', '\\x7b', '\\'],
  ...['a:fence', 'a:queue', 'a:waiters', 'fence', '{a}:fence', 'a}:fence', 'a::fence'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'null', 'undefined', 'NaN', '0', '-1', '1e3', 'true'],
  ...[
    'é',
    'e\u0301',
    'ß',
    'ss',
    'İ',
    'i',
    '🐟',
    '👨‍👩‍👧',
    '\u200b',
    '\ufeff',
    '\ufffd',
    '\ud800',
    '\udc00',
    '\ud801',
    '\ud83d',
    'ﬁ',
    'fi',
    '\u2028',
    '\u00a0',
  ],
  ...['*', '?', '[a]', '^', '$', "'", '"', '`', '--', ';--', '<id>', '${a}', '\u001b[0m', '\u007f', '\u0085'],
  ...['x'.repeat(10_000), `${'x'.repeat(10_000)}y`, 'x'.repeat(9_999), '%25'.repeat(500), '{'.repeat(500)],
];

const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
/** Lone surrogates too, which `anyText` leaves out, and braces and percent signs more often than chance would. */
const nastyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('{', '}', '%', ':', '\\', '\u0000', '\ud800', '\udfff', '\ufffd', '2', '5', '7', 'B'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  minLength: 1,
  maxLength: 8,
});

export function keysContract(harness: () => StoreHarness, features: Features): void {
  /** All held at once by different holders: then no two are the same lease. Afterwards all are released. */
  async function expectStrangers(keys: readonly string[]): Promise<void> {
    const { store } = harness();
    const held: Taken[] = [];
    try {
      for (const key of keys) held.push(await take(store, key));
      const seen = await Promise.all(held.map(({ key }) => store.inspect(key)));
      expect(seen.map((record) => [record?.key, record?.holderTag])).toEqual(held.map(({ key, holderTag }) => [key, holderTag]));
      await Promise.all(held.filter((_, i) => i % 2 === 0).map((lease) => store.release(lease)));
      const left = await Promise.all(held.map(({ key }) => holderOf(store, key)));
      expect(left).toEqual(held.map(({ holderTag }, i) => (i % 2 === 0 ? undefined : holderTag)));
    } finally {
      await Promise.all(held.map((lease) => store.release(lease)));
    }
  }

  describe('keys', () => {
    it(
      'do not collide, whatever is in them',
      async () => {
        expect(new Set(WEIRD).size).toBe(WEIRD.length);
        await expectStrangers(WEIRD);
      },
      PATIENCE_MS,
    );

    it(
      'do not collide when a thousand are held at once',
      async () => {
        await expectStrangers(Array.from({ length: 1000 }, () => freshKey('thousand')));
      },
      PATIENCE_MS,
    );

    it('have a fence each', async () => {
      const { store, readFence, putFence } = harness();
      const a = await take(store, freshKey());
      const b = await take(store, `${a.key}:fence`);
      await putFence(a.key, String(a.fencingToken + 1000));
      expect((await readFence(b.key))?.token).toBe(b.fencingToken);
      await store.release(b);
      expect((await readFence(a.key))?.token).toBe(a.fencingToken + 1000);
    });

    it(
      'do not collide in any set of texts',
      async () => {
        const sets = fc.uniqueArray(fc.oneof(anyText, nastyText), { minLength: 2, maxLength: 12 });
        await fc.assert(fc.asyncProperty(sets, expectStrangers), { numRuns: features.runs ?? 50 });
      },
      PATIENCE_MS,
    );
  });
}
