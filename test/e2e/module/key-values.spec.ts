import { describe, expect, it } from '@jest/globals';
import { WithLease } from '../../../lib/index.js';
import { bindLease, createLeaseService, FaultyLeaseStore, MemoryLeaseStore } from '../../../lib/testing/index.js';

class Jobs {
  @WithLease('job:<id>')
  async run(id?: unknown): Promise<unknown> {
    return Promise.resolve(id);
  }

  @WithLease('job:<job.id>')
  async nested(job?: { id?: unknown }): Promise<unknown> {
    return Promise.resolve(job);
  }
}

const rig = (): { jobs: Jobs; keys: () => string[] } => {
  const store = new FaultyLeaseStore(new MemoryLeaseStore());
  return { jobs: bindLease(new Jobs(), createLeaseService({ store })), keys: () => store.calls('acquire').map(({ key }) => key) };
};

describe('a value that a key needs', () => {
  it.each([[undefined], [null], [''], [NaN], [{}], [[]], [Symbol('x')], [new Date(0)]])(
    'is refused before the store is asked: %p, bare and as a property (murlock#65)',
    async (value) => {
      const { jobs, keys } = rig();
      await expect(jobs.run(value)).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
      await expect(jobs.nested({ id: value })).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
      expect(keys()).toEqual([]);
    },
  );

  it('that is missing altogether is refused too (murlock#65)', async () => {
    const { jobs, keys } = rig();
    for (const call of [jobs.run(), jobs.nested(), jobs.nested({})])
      await expect(call).rejects.toMatchObject({ code: 'LEASE_KEY_INVALID' });
    expect(keys()).toEqual([]);
  });

  it('0, false and a bigint are values; what looks like a separator or a placeholder cannot collide (murlock#65)', async () => {
    const { jobs, keys } = rig();
    for (const value of [0, false, 1n, 'a:b', '<id>', '__proto__']) await jobs.run(value);
    expect(new Set(keys()).size).toBe(6);
    expect(keys().slice(0, 3)).toEqual(['job:0', 'job:false', 'job:1']);
    expect(keys()[3]).not.toBe('job:a:b');
  });
});
