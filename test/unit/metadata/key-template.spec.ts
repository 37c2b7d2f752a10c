import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LeaseKeyError } from '../../../lib/errors/lease-key.error.js';
import { LeaseOptionsError } from '../../../lib/errors/lease-options.error.js';
import { leaseKey, parseKeyTemplate } from '../../../lib/metadata/key-template.js';

describe('reading a key template', () => {
  it('takes <name> and {name} for the same', () => {
    expect(leaseKey('order:<id>', { id: 7 })).toBe('order:7');
    expect(leaseKey('order:{id}', { id: 7 })).toBe('order:7');
  });

  it('takes text without a placeholder as it is', () => {
    expect(leaseKey('nightly-report: of 3 o’clock')).toBe('nightly-report: of 3 o’clock');
  });

  it('follows paths and positions', () => {
    expect(leaseKey('a:<user.id>:<user.account.id>', { user: { id: 1, account: { id: 'x' } } })).toBe('a:1:x');
    expect(leaseKey('a:<0>:<1.id>', ['p', { id: 2 }])).toBe('a:p:2');
  });

  it('writes a doubled bracket as a literal one', () => {
    expect(leaseKey('{{<id>}}:x', { id: 1 })).toBe('{1}:x');
    expect(leaseKey('{{{id}}}', { id: 1 })).toBe('{1}');
    expect(leaseKey('a-->>b<<c', {})).toBe('a-->b<c');
    expect(leaseKey('<<<id>>>', { id: 1 })).toBe('<1>');
  });

  it('takes names that query parameters have', () => {
    expect(leaseKey('t:<tenant-id>:<größe>', { 'tenant-id': 1, größe: 2 })).toBe('t:1:2');
  });

  it.each([
    '',
    '<>',
    '<',
    '>',
    'a<b',
    '{id',
    'id}',
    '<id}',
    '{id>',
    '< id>',
    '<id.>',
    '<.id>',
    '<a..b>',
    '<01>',
    '<-1>',
    '<1.5.>',
    '<a b>',
    '<a[0]>',
    '{}',
    'x:<id>>',
  ])('refuses %j at once, as a mistake of configuration', (template) => {
    expect(() => parseKeyTemplate(template)).toThrow(LeaseOptionsError);
  });

  it.each(['<a><b>', '<a>x<b>', '<a>12<b>', '<a>%<b>'])('refuses %j, whose parts no separator keeps apart', (template) => {
    expect(() => parseKeyTemplate(template)).toThrow(/separat/);
  });
});

describe('values of a key', () => {
  it.each([
    [0, 'k:0'],
    [-0, 'k:0'],
    [false, 'k:false'],
    [true, 'k:true'],
    [10n ** 20n, 'k:100000000000000000000'],
    [1.5, 'k:1.5'],
    ['0', 'k:0'],
    ['a b', 'k:a%20b'],
    ['ä', 'k:%C3%A4'],
  ])('writes %p', (value, key) => {
    expect(leaseKey('k:<v>', { v: value })).toBe(key);
  });

  it.each([
    undefined,
    null,
    '',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    {},
    { toString: () => 'x' },
    [],
    ['x'],
    new Date(0),
    Symbol('x'),
    () => 'x',
    new String('x'),
    new Map(),
    '\ud800',
  ])('refuses %p before anything runs', (value) => {
    expect(() => leaseKey('k:<v>', { v: value })).toThrow(LeaseKeyError);
  });

  it('names the placeholder and the template, not the value', () => {
    expect(() => leaseKey('k:<v>', { v: ['secret'] })).toThrow("The value for <v> of the lease key 'k:<v>' is an array");
  });

  it('keeps a missing value from giving a key that all calls share (murlock)', () => {
    expect(() => leaseKey('order:<id>', {})).toThrow(LeaseKeyError);
    expect(() => leaseKey('order:<id>')).toThrow(LeaseKeyError);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__', 'constructor.name', '__proto__.constructor.name'])(
    'never reads the inherited %s',
    (name) => {
      expect(() => leaseKey(`k:<${name}>`, {})).toThrow(LeaseKeyError);
      expect(() => leaseKey(`k:<user.${name}>`, { user: {} })).toThrow(LeaseKeyError);
    },
  );

  it('never reads an inherited text', () => {
    const values = Object.create({ id: 'shared' }) as Record<string, unknown>;
    expect(() => leaseKey('k:<id>', values)).toThrow(LeaseKeyError);
  });

  it('does not read __proto__ even where a JSON body made it an own property', () => {
    expect(() => leaseKey('k:<__proto__>', JSON.parse('{"__proto__":"x"}') as Record<string, unknown>)).toThrow(LeaseKeyError);
  });

  it('does not read the properties of strings', () => {
    expect(() => leaseKey('k:<id.length>', { id: 'abc' })).toThrow(LeaseKeyError);
  });

  it('never expands a value', () => {
    expect(leaseKey('k:<a>:<b>', { a: '<b>', b: '{a}' })).toBe('k:%3Cb%3E:%7Ba%7D');
  });
});

describe('two sets of values', () => {
  const SEPARATORS = [':', '/', '-', '.', '_', '::', ' and ', '~x~', "'", '!', '->>', '(', '*'];
  const value = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.string({ unit: fc.constantFrom(...Array.from(":/-._~!'()*%<>{}3Aa x")), minLength: 1 }),
    fc.integer(),
  );
  const wellFormed = value.filter((v) => typeof v === 'number' || Buffer.from(v).toString() === v);

  it('`a:b` + `c` and `a` + `b:c` stay two keys', () => {
    expect(leaseKey('k:<x>:<y>', { x: 'a:b', y: 'c' })).not.toBe(leaseKey('k:<x>:<y>', { x: 'a', y: 'b:c' }));
    expect(leaseKey('k:<x>-<y>', { x: 'a-b', y: 'c' })).not.toBe(leaseKey('k:<x>-<y>', { x: 'a', y: 'b-c' }));
  });

  it('never give one key, whatever they contain and whatever separates them', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SEPARATORS),
        fc.constantFrom(...SEPARATORS),
        fc.tuple(wellFormed, wellFormed, wellFormed),
        fc.tuple(wellFormed, wellFormed, wellFormed),
        (s, t, one, two) => {
          const template = `k:<0>${s}<1>${t}<2>`;
          const same = one.every((v, i) => String(v) === String(two[i]));
          expect(leaseKey(template, one) === leaseKey(template, two)).toBe(same);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('never give one key when only the place of the separator moves', () => {
    const text = fc.string({ unit: fc.constantFrom(...Array.from(":-.a%'")), minLength: 3, maxLength: 8 });
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), fc.constantFrom(':', '-', '.', "'"), (all, i, j, s) => {
        const cut = (at: number): string[] => [all.slice(0, 1 + (at % (all.length - 1))), all.slice(1 + (at % (all.length - 1)))];
        const [one, two] = [cut(i), cut(j)];
        expect(leaseKey(`<0>${s}<1>`, one) === leaseKey(`<0>${s}<1>`, two)).toBe(one[0] === two[0]);
      }),
      { numRuns: 2000 },
    );
  });
});
