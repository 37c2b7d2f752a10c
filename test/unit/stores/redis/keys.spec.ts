import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { escapePart, LeaseKeys, unescapePart } from '../../../../lib/stores/redis/keys.js';
import { slotOf } from '../../../../lib/stores/redis/slots.js';

const anyText = fc.string({
  unit: fc.oneof(
    fc.nat(0xffff).map((code) => String.fromCharCode(code)),
    fc.constantFrom('{', '}', '~', 'u', '7', 'B'),
  ),
});

describe('LeaseKeys', () => {
  const keys = new LeaseKeys('lease');

  it('leaves plain ASCII readable', () => {
    expect(keys.of('job:42')).toEqual(['lease:{job:42}', 'lease:{job:42}:fence', 'lease:{job:42}:queue', 'lease:{job:42}:waiters']);
    expect(keys.of("a%20b|c/d@e.f-g_h!$&'()*+,;=[]^")[0]).toBe("lease:{a%20b|c/d@e.f-g_h!$&'()*+,;=[]^}");
  });

  it('escapes what would move the hash tag, collide or upset a terminal', () => {
    expect(keys.of('a{b}c~d e\n\u{1f41f}\ud800')[0]).toBe('lease:{a~7Bb~7Dc~7Ed~20e~0A~uD83D~uDC1F~uD800}');
  });

  it('gives every text one escaped text of printable ASCII, and back', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const escaped = escapePart(text);
        expect(escaped).toMatch(/^[\x21-\x7a|~]*$/);
        expect(escaped.replace(/~(u[0-9A-F]{4}|[0-9A-F]{2})/g, '')).not.toContain('~');
        expect(unescapePart(escaped)).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps all keys of one lease in one slot, whatever the key', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(text !== '');
        const [lease, fence] = keys.of(text);
        expect(slotOf(fence)).toBe(slotOf(lease));
      }),
    );
  });

  it('refuses an empty key', () => {
    expect(() => keys.of('')).toThrow(expect.objectContaining({ code: 'LEASE_KEY_INVALID' }));
    expect(() => keys.ofHeld('')).toThrow(expect.objectContaining({ code: 'LEASE_KEY_INVALID' }));
  });

  it.each(['', 'a{', '}', '{app}', undefined, 7])('refuses the namespace %j', (namespace) => {
    expect(() => new LeaseKeys(namespace as string)).toThrow(
      expect.objectContaining({ code: 'LEASE_OPTIONS_INVALID', option: 'namespace' }),
    );
  });
});

describe('slotOf', () => {
  it.each([
    ['123456789', 0x31c3],
    ['foo', 12182],
    ['{user1000}.following', 3443],
    ['foo{}{bar}', 8363],
    ['foo{{bar}}zap', 4015],
    ['foo{bar}{zap}', 5061],
  ])('is the slot of Redis Cluster for %s', (key, slot) => {
    expect(slotOf(key)).toBe(slot);
  });
});
