import { describe, expect, it } from '@jest/globals';
import { ExpiringMap } from '../../../../lib/stores/memory/expiring-map.js';

describe('ExpiringMap', () => {
  it('shows an entry until its end, and not at it', () => {
    const map = new ExpiringMap<{ expiresAt: number }>();
    map.set('a', { expiresAt: 100 }, 0);
    expect(map.get('a', 99)).toEqual({ expiresAt: 100 });
    expect(map.get('a', 100)).toBeUndefined();
    expect(map.size).toBe(0);
  });

  it('frees what nobody asks for again, as long as it is written to', () => {
    const map = new ExpiringMap<{ expiresAt: number }>();
    for (let i = 0; i < 100_000; i++) map.set(`key-${String(i)}`, { expiresAt: i + 10 }, i);
    expect(map.size).toBeLessThan(100);
  });

  it('keeps up with a burst that is over: the sweep goes round and round', () => {
    const map = new ExpiringMap<{ expiresAt: number }>();
    for (let i = 0; i < 10_000; i++) map.set(`burst-${String(i)}`, { expiresAt: 10 }, 0);
    for (let i = 0; i < 5000; i++) map.set('one key', { expiresAt: 1000 }, 20);
    expect(map.size).toBe(1);
  });

  it('keeps what is alive', () => {
    const map = new ExpiringMap<{ expiresAt: number }>();
    for (let i = 0; i < 1000; i++) map.set(`key-${String(i)}`, { expiresAt: 50_000 }, i);
    expect(map.size).toBe(1000);
    expect(map.delete('key-5')).toBe(true);
    expect(map.delete('key-5')).toBe(false);
    expect(map.get('key-5', 0)).toBeUndefined();
  });
});
