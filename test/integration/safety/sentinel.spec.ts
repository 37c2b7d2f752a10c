import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startHolder, type Holder } from '../../support/holder.js';
import { SentinelGroup } from '../../support/topologies/sentinel-group.js';
import { waitFor } from '../../support/wait-for.js';

describe('a failover by Sentinel', () => {
  let group: SentinelGroup;
  const holders: Holder[] = [];
  beforeAll(async () => {
    group = await SentinelGroup.start();
  }, 60_000);
  afterEach(async () => void (await Promise.all(holders.splice(0).map((holder) => holder.close()))));
  afterAll(() => group.stop());

  it('is told as amnesia; with the guard grants pause from then on, with durability they find the new replicas', async () => {
    const start = (options: object): Holder => {
      const holder = startHolder({ connection: group.connection, ttl: '1500ms', ...options });
      holders.push(holder);
      return holder;
    };
    const [plain, guarded] = [start({}), start({ amnesiaGuard: '2s', durability: { replicas: 1, timeout: '1s' } })];
    await plain.service.inspect('x');
    await (await guarded.service.acquire('k', { wait: 20 })).release();
    guarded.seen.length = 0;
    const old = await group.primary();
    await group.failover();
    await waitFor(() => plain.service.inspect('x').then(() => plain.types().includes('amnesia')), { timeoutMs: 20_000 });
    const since = performance.now();
    const lease = await guarded.service.acquire('k', { wait: 30 });
    const [told] = guarded.seen.filter(({ type }) => type === 'amnesia');
    expect(told).toMatchObject({ reason: 'promoted', pauseMs: 2000 });
    expect(told).not.toMatchObject({ server: `${old.host}:${String(old.port)}` });
    // It may have noticed a little before we looked.
    expect(performance.now() - since).toBeGreaterThan(500);
    expect(await lease.release()).toBe(true);
    expect(plain.seen.find(({ type }) => type === 'amnesia')).toMatchObject({ reason: 'promoted', pauseMs: 0 });
  });
});
