import { describe, expect, it } from '@jest/globals';
import { MemoryFencingGuard } from 'nestjs-lease/fencing';
import { ruleCases } from '../../integration/fencing/rule-cases.js';
import { holder } from '../../integration/fencing/stories.js';

describe('MemoryFencingGuard', () => {
  const shared = new MemoryFencingGuard();
  ruleCases(() => shared);

  it('lets nobody past a resource while a write is under way, and others pass', async () => {
    const guard = new MemoryFencingGuard();
    const order: string[] = [];
    let finish = (): void => {};
    const a = guard.write('r', holder(33), async () => {
      order.push('a begins');
      await new Promise<void>((resolve) => (finish = resolve));
      order.push('a ends');
    });
    const b = guard.write('r', holder(34), () => order.push('b'));
    await guard.write('other', holder(1), () => order.push('other'));
    finish();
    await Promise.all([a, b]);
    expect(order).toEqual(['a begins', 'other', 'a ends', 'b']);
  });

  it('never calls the write of the holder that was paused, and tells its lease', async () => {
    const guard = new MemoryFencingGuard();
    const [a, b] = [holder(33), holder(34)];
    expect(await guard.write('r', a, () => 1)).toBe(1);
    expect(await guard.write('r', b, async () => 2)).toBe(2);
    let written = false;
    await expect(guard.write('r', a, () => (written = true))).rejects.toMatchObject({
      code: 'FENCING_TOKEN_STALE',
      current: b.fencingToken,
    });
    expect(written).toBe(false);
    expect(a.refusals).toHaveLength(1);
    expect(guard.current('r')).toEqual({ token: b.fencingToken, holderTag: b.holderTag });
    expect(guard.current('never')).toBeUndefined();
  });

  it("a write's own error is its own, and the next one goes on", async () => {
    const guard = new MemoryFencingGuard();
    await expect(guard.write('r', holder(33), () => Promise.reject(new Error('disk')))).rejects.toThrow('disk');
    expect(await guard.write('r', holder(33), () => 'again')).toBe('again');
  });

  it.each([[1.5], [NaN], [Infinity], [0], [-1], [2 ** 53], ['33'], [33n], [undefined]])(
    'refuses the token %p before it is compared',
    async (token) => {
      const guard = new MemoryFencingGuard();
      await expect(guard.accept('r', token as number, 'a')).rejects.toMatchObject({
        code: 'LEASE_OPTIONS_INVALID',
        option: 'fencingToken',
      });
      expect(guard.current('r')).toBeUndefined();
    },
  );

  it.each(['', 'x'.repeat(65), 'with space', 'ü', undefined])('refuses the holder tag %p', async (tag) => {
    await expect(new MemoryFencingGuard().accept('r', 1, tag as string)).rejects.toMatchObject({ option: 'holderTag' });
  });
});
