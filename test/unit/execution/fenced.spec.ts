import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, type Observable } from 'rxjs';
import { StaleFencingTokenError } from '../../../lib/errors/stale-fencing-token.error.js';
import { passFence } from '../../../lib/fencing/fencing-guard.js';
import { MemoryFencingGuard } from '../../../lib/fencing/memory-fencing-guard.js';
import { isHeld } from '../../../lib/lease/lease-control.js';
import type { Lease } from '../../../lib/lease/lease.js';
import { leasedCall, serviceRig } from '../../support/service-rig.js';

/** A guard that has accepted a newer writer of the row. */
async function newerWriter(lease: Lease): Promise<MemoryFencingGuard> {
  const guard = new MemoryFencingGuard();
  await guard.accept('row', lease.fencingToken + 1, 'newer');
  return guard;
}

const FENCED = { code: 'LEASE_LOST', reason: 'fenced', cause: { code: 'FENCING_TOKEN_STALE', resource: 'row' } };

describe('a lease whose token a resource has refused', () => {
  it('is lost at once with reason fenced, and the call rejects with the very loss that its signal told, the refusal as cause', async () => {
    const { service, seen } = serviceRig();
    let held: Lease | undefined;
    let refusal: unknown;
    const call = service.withLease('job:1', async (lease) => {
      held = lease;
      const guard = await newerWriter(lease);
      try {
        await guard.write('row', lease, () => 'written');
      } catch (error) {
        refusal = error;
        expect(lease.signal.aborted).toBe(true);
        expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ reason: 'fenced' }));
        throw error;
      }
    });
    const error: unknown = await call.catch((failure: unknown) => failure);
    expect(error).toMatchObject(FENCED);
    expect(error).toBe(held?.signal.reason);
    expect(error).toBe(await held?.lost);
    expect((error as Error).cause).toBe(refusal);
    expect(seen).toMatchObject([{ type: 'lost', key: 'job:1', reason: 'fenced' }]);
    expect(await service.inspect('job:1')).toBeUndefined();
  });

  it('is lost also when the handler swallows the refusal, or guards by passFence', async () => {
    const { service } = serviceRig();
    const call = service.withLease('job:1', async (lease) => {
      await passFence(await newerWriter(lease), 'row', lease).catch(() => undefined);
      return 'as if nothing were';
    });
    await expect(call).rejects.toMatchObject(FENCED);
  });

  it.each(['promise', 'observable', 'iterable'] as const)(
    'is lost when the guard was given the bare token and its refusal ends the %s',
    async (returns) => {
      const { executor, seen } = serviceRig();
      const body = async (lease: Lease): Promise<void> => (await newerWriter(lease)).accept('row', lease.fencingToken, lease.holderTag);
      const bodies = {
        promise: body,
        observable: body,
        iterable: async function* (lease: Lease): AsyncGenerator<number> {
          yield 1;
          await body(lease);
        },
      };
      const result = executor.run(leasedCall('job:1', bodies[returns], { returns }));
      await expect(read(result)).rejects.toMatchObject(FENCED);
      expect(seen).toMatchObject([{ type: 'lost', reason: 'fenced' }]);
    },
  );

  it('is lost for the call around, too, which shares it', async () => {
    const { service } = serviceRig();
    const outer = service.withLease('job:1', async (lease) => {
      const guard = await newerWriter(lease);
      const inner = service.withLease('job:1', () => guard.accept('row', lease.fencingToken, lease.holderTag));
      await expect(inner).rejects.toMatchObject(FENCED);
      expect(isHeld(lease)).toBe('lost');
      return 'went on';
    });
    await expect(outer).rejects.toMatchObject(FENCED);
  });

  it('is not lost by the refusal of a token that is not its own, which passes as it is', async () => {
    const { service, seen } = serviceRig();
    const refusal = new StaleFencingTokenError('row', 1, { current: 2 });
    await expect(service.withLease('job:1', () => Promise.reject(refusal))).rejects.toBe(refusal);
    expect(seen.map(({ type }) => type)).toEqual(['released']);
  });
});

async function read(result: unknown): Promise<unknown> {
  if (typeof result === 'object' && result !== null && 'subscribe' in result) {
    return lastValueFrom(result as Observable<unknown>, { defaultValue: undefined });
  }
  if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result) {
    const values: unknown[] = [];
    for await (const value of result as AsyncIterable<unknown>) values.push(value);
    return values;
  }
  return result;
}
