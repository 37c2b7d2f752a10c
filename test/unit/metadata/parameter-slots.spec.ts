import { describe, expect, it } from '@jest/globals';
import { fillSlots, keyPartsOf, markKeyPart, markSlot, ownSlots, slotsOf } from '../../../lib/metadata/parameter-slots.js';

class Base {}
class Sub extends Base {}

describe('marked parameters', () => {
  it('are inherited, added to and replaced without touching the base', () => {
    markSlot('@FencingToken()', Base.prototype, 'run', 1, 'token');
    markSlot('@CurrentLease()', Base.prototype, 'run', 2, 'lease');
    markSlot('@CurrentLease()', Sub.prototype, 'run', 1, 'lease');
    markKeyPart('@LeaseKey', Sub.prototype, 'run', 0, 'id');
    expect([...slotsOf(Sub.prototype, 'run')]).toEqual([
      [1, 'lease'],
      [2, 'lease'],
    ]);
    expect([...slotsOf(Base.prototype, 'run')]).toEqual([
      [1, 'token'],
      [2, 'lease'],
    ]);
    expect([...keyPartsOf(Sub.prototype, 'run')]).toEqual([[0, 'id']]);
    expect(keyPartsOf(Base.prototype, 'run').size).toBe(0);
    expect(slotsOf(Sub.prototype, 'other').size).toBe(0);
    expect(ownSlots(Sub.prototype, 'run')?.size).toBe(1);
  });

  it('are not taken from names that every object has', () => {
    expect(slotsOf(Base.prototype, 'toString').size).toBe(0);
    expect(slotsOf(Base.prototype, '__proto__').size).toBe(0);
  });

  it('cannot be marked twice, nor be both injected and part of the key', () => {
    class Jobs {}
    markSlot('@FencingToken()', Jobs.prototype, 'run', 0, 'token');
    markKeyPart('@LeaseKey', Jobs.prototype, 'run', 1, 'id');
    expect(() => {
      markSlot('@CurrentLease()', Jobs.prototype, 'run', 0, 'lease');
    }).toThrow(/Parameter 0 of Jobs\.run is marked twice/);
    expect(() => {
      markKeyPart('@LeaseKey', Jobs.prototype, 'run', 0, 'x');
    }).toThrow(/both injected and part of the key/);
    expect(() => {
      markSlot('@FencingToken()', Jobs.prototype, 'run', 1, 'token');
    }).toThrow(/both injected and part of the key/);
    expect(() => {
      markKeyPart('@LeaseKey', Jobs.prototype, 'run', 2, 'id');
    }).toThrow(/Two parameters of Jobs\.run are marked @LeaseKey\('id'\)/);
  });

  it('are filled in a copy, past the end of what the caller passed', () => {
    const args = Object.freeze(['a']);
    const lease = { fencingToken: 9 };
    expect(fillSlots(args, new Map([[3, 'token' as const]]), lease)).toEqual(['a', undefined, undefined, 9]);
    expect(fillSlots(args, new Map([[0, 'lease' as const]]), lease)).toEqual([lease]);
  });
});
