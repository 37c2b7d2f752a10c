import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatDuration, parseDuration, type DurationRules } from '../../../lib/time/duration.js';

interface Refusal {
  readonly code: string;
  readonly option: string;
  readonly message: string;
}

function refusal(value: unknown, rules?: DurationRules): Refusal {
  try {
    throw new Error(`not refused but read as ${String(parseDuration('ttl', value, rules))} ms`);
  } catch (error) {
    return error as Refusal;
  }
}

describe('parseDuration', () => {
  it.each<[unknown, number]>([
    [60, 60_000],
    [1, 1000],
    [0.5, 500],
    [1.5, 1500],
    [123.45, 123_450],
    [600, 600_000],
    [0.001, 1],
    [0.1 + 0.2, 300],
    [1.001, 1001],
    ['60s', 60_000],
    ['500ms', 500],
    ['30s', 30_000],
    ['2m', 120_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0.5s', 500],
    ['1.5h', 5_400_000],
    ['601s', 601_000],
    ['60000ms', 60_000],
    [' 30 s ', 30_000],
  ])('reads %j as %d ms', (value, ms) => {
    expect(parseDuration('ttl', value)).toBe(ms);
  });

  it.each<[unknown, string]>([
    [0, '0'],
    [-0, '0'],
    [-1, '-1'],
    [-700, '-700'],
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    [-Infinity, '-Infinity'],
    [0.0005, '0.0005'],
    [1.0005, '1.0005'],
    [1e-10, '1e-10'],
    [601, '601'],
    [30_000, '30000'],
    [1e21, '1e+21'],
    [2 ** 53, '9007199254740992'],
    ['60', "'60'"],
    ['', "''"],
    ['s', "'s'"],
    ['abc', "'abc'"],
    ['-5s', "'-5s'"],
    ['0s', "'0s'"],
    ['0ms', "'0ms'"],
    ['0.5ms', "'0.5ms'"],
    ['1.0005s', "'1.0005s'"],
    ['1e3s', "'1e3s'"],
    ['.5s', "'.5s'"],
    ['5.s', "'5.s'"],
    ['30S', "'30S'"],
    ['30 seconds', "'30 seconds'"],
    ['1w', "'1w'"],
    ['1h30m', "'1h30m'"],
    ['30s\n30s', "'30s\n30s'"],
    ['٣s', "'٣s'"],
    ['Infinitys', "'Infinitys'"],
    ['9007199254740992ms', "'9007199254740992ms'"],
    [null, 'null'],
    [undefined, 'undefined'],
    [true, 'true'],
    [{}, 'an object'],
    [[60], 'an array'],
    [new Number(60), 'an object'],
    [60n, '60'],
    [Symbol('60s'), 'Symbol(60s)'],
    [() => 60, 'a function'],
    [new Date(0), 'an object'],
  ])('refuses %p and names the option and the value', (value, shown) => {
    const { code, option, message } = refusal(value);
    expect({ code, option }).toEqual({ code: 'LEASE_OPTIONS_INVALID', option: 'ttl' });
    expect(message).toContain(`"ttl" is ${shown}:`);
  });

  it('does not print a text of any length', () => {
    expect(refusal('9'.repeat(5000)).message.length).toBeLessThan(250);
  });

  it.each([601, 1000, 30_000, 86_400])('says of the bare number %d how it reads, how it may be meant, and how to write each', (value) => {
    const { message } = refusal(value);
    const n = String(value);
    expect(message).toContain(`${n} seconds`);
    expect(message).toContain(`${n} milliseconds`);
    expect(message).toContain(`'${n}s' or '${n}ms'`);
  });

  it('takes its own advice: what it proposes for a bare number is read as the one or the other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 601, max: 2 ** 40 }), (value) => {
        const [seconds, milliseconds] = [...refusal(value).message.matchAll(/'(\d+m?s)'/g)].map((match) => match[1]);
        expect(parseDuration('ttl', seconds)).toBe(value * 1000);
        expect(parseDuration('ttl', milliseconds)).toBe(value);
      }),
    );
  });

  it('proposes nothing that it could not read for a number out of range', () => {
    expect(refusal(1e21).message).toContain('out of range');
    expect(refusal(1e21, { stringOnly: true }).message).toContain('out of range');
  });

  describe('rules of the option', () => {
    it('takes zero where zero is a value', () => {
      for (const zero of [0, -0, '0s', '0ms', '0d']) expect(parseDuration('wait', zero, { zero: true })).toBe(0);
      expect(Object.is(parseDuration('wait', -0, { zero: true }), 0)).toBe(true);
      expect(parseDuration('wait', 0, { zero: true, minMs: 100 })).toBe(0);
    });

    it('still refuses what is below zero', () => {
      expect(refusal(-1, { zero: true }).message).toContain('or zero');
    });

    it('keeps to the limits, both included', () => {
      const limits = { minMs: 100, maxMs: 86_400_000 };
      expect([100, '86400s', '1d'].map((value) => parseDuration('ttl', typeof value === 'number' ? value / 1000 : value, limits))).toEqual([
        100, 86_400_000, 86_400_000,
      ]);
      expect(refusal('99ms', limits).message).toContain('at least 100ms');
      expect(refusal('86400001ms', limits).message).toContain('at most 1d');
    });

    it('takes only texts where the ecosystem reads numbers as milliseconds', () => {
      const { message } = refusal(30, { stringOnly: true });
      expect(message).toContain("'30s' or '30ms'");
      expect(refusal(30_000, { stringOnly: true }).message).toContain("'30000s' or '30000ms'");
      expect(parseDuration('every', '30s', { stringOnly: true })).toBe(30_000);
    });
  });

  describe('in general', () => {
    const wholeMs = fc.integer({ min: 1, max: 600_000 });

    it('reads whole milliseconds exactly, however they are written', () => {
      fc.assert(
        fc.property(wholeMs, (ms) => {
          expect(parseDuration('ttl', ms / 1000)).toBe(ms);
          expect(parseDuration('ttl', `${String(ms)}ms`)).toBe(ms);
          expect(parseDuration('ttl', `${(ms / 1000).toFixed(3)}s`)).toBe(ms);
        }),
        { numRuns: 500 },
      );
    });

    it('refuses every fraction of a millisecond that is more than a rounding error', () => {
      const fraction = fc.integer({ min: 1, max: 999 });
      fc.assert(
        fc.property(wholeMs, fraction, (ms, thousandths) => {
          expect(refusal(`${String(ms)}.${String(thousandths).padStart(3, '0')}ms`).message).toContain('fraction');
        }),
      );
    });

    it('gives a positive whole number of milliseconds or refuses, for any value', () => {
      fc.assert(
        fc.property(fc.oneof(fc.anything(), fc.double(), fc.string(), fc.stringMatching(/^\d{1,20}(\.\d{1,4})?(ms|s|m|h|d)$/)), (value) => {
          let ms: number;
          try {
            ms = parseDuration('ttl', value);
          } catch (error) {
            expect((error as Refusal).code).toBe('LEASE_OPTIONS_INVALID');
            return;
          }
          expect(Number.isSafeInteger(ms) && ms > 0).toBe(true);
        }),
        { numRuns: 1000 },
      );
    });
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [1500, '1500ms'],
    [1000, '1s'],
    [60_000, '1m'],
    [90_000, '90s'],
    [3_600_000, '1h'],
    [86_400_000, '1d'],
    [604_800_000, '7d'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('writes what parseDuration reads', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 2 ** 45 }), (ms) => expect(parseDuration('ttl', formatDuration(ms))).toBe(ms)));
  });
});
