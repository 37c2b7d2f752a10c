import { describe, expect, it } from '@jest/globals';
import { AttackRig, rejection } from '../../support/attack-rig.js';
import { waitFor } from '../../support/wait-for.js';

describe('renew and release race', () => {
  const rig = new AttackRig();

  it.each([
    ['renewal sent and carried out first', 'delayReply', 'renew'],
    ['renewal sent first, carried out last', 'delay', 'renew'],
    ['renewal carried out, release carried out late', 'delay', 'release'],
    ['renewal carried out, release answered late', 'delayReply', 'release'],
  ] as const)('%s: the key is gone or the rival’s, and nothing comes back', async (_, fault, verb) => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: 3 });
    a.store[fault](verb, 120);
    const renewed = lease.renew().then(
      () => 'renewed',
      (error: unknown) => (error as { code: string }).code,
    );
    await waitFor(() => a.store.calls('renew').length === 1);
    const released = lease.release();
    // One that is not held up may be answered before the release is asked for.
    expect(verb === 'renew' ? ['LEASE_LOST'] : ['LEASE_LOST', 'renewed']).toContain(await renewed);
    const next = await b.service.acquire(key, { ttl: 3, wait: 3 });
    await released;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(a.store.calls('renew')).toHaveLength(1);
    expect(await rig.ownerOf(key)).toBe(next.holderId);
    expect(await next.release()).toBe(true);
    expect(await rig.pttl(key)).toBe(-2);
  });

  it('a renewal is not sent once release was called', async () => {
    const a = rig.attacked();
    const lease = await a.service.acquire(rig.key(), { ttl: 3 });
    const released = lease.release();
    expect((await rejection(lease.renew())).code).toBe('LEASE_LOST');
    expect(await released).toBe(true);
    expect(a.store.calls('renew')).toHaveLength(0);
  });

  it('a renewal that the rival’s lease meets does not prolong it', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: 3 });
    a.store.delay('renew', 150);
    const renewed = rejection(lease.renew());
    await waitFor(() => a.store.calls('renew').length === 1);
    await rig.client.del(rig.leaseKey(key));
    const next = await b.service.acquire(key, { ttl: 1 });
    expect(await renewed).toMatchObject({ code: 'LEASE_LOST', reason: 'taken' });
    expect(await rig.pttl(key)).toBeLessThanOrEqual(1000);
    expect(await next.release()).toBe(true);
  });

  it('a shorter ttl whose answer is lost shortens nothing', async () => {
    const a = rig.attacked();
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: 60 });
    a.store.dropReply('renew');
    const renewed = lease.renew('500ms');
    await waitFor(() => a.store.calls('renew').length === 1);
    expect(await rig.pttl(key)).toBeGreaterThan(59_000);
    expect(lease.remainingMs()).toBeGreaterThan(58_000);
    lease.assertHeld();
    await renewed;
    expect(await rig.pttl(key)).toBeGreaterThan(58_000);
    expect(await lease.release()).toBe(true);
  });

  it('a longer ttl holds though its first answer is lost: one holder throughout, while a rival polls', async () => {
    const [a, b] = [rig.attacked(), rig.rival()];
    const key = rig.key();
    const lease = await a.service.acquire(key, { ttl: 1 });
    const polling = rejection(b.service.acquire(key, { ttl: 1, wait: '1500ms' }));
    a.store.dropReply('renew');
    await lease.renew('5s');
    expect(await rig.pttl(key)).toBeGreaterThan(4500);
    expect(lease.remainingMs()).toBeGreaterThan(4500);
    expect(await polling).toMatchObject({ code: 'LEASE_BUSY' });
    lease.assertHeld();
    expect(await rig.ownerOf(key)).toBe(lease.holderId);
    expect(await lease.release()).toBe(true);
  });
});
