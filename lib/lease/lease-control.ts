import type { LeaseLostError, LeaseLostReason } from '../errors/lease-lost.error.js';
import { leaseHandle, type Lease } from './lease.js';

/** The state of a lease by the clocks at the call. */
export function isHeld(lease: Lease): 'held' | 'suspect' | 'lost' | 'released' {
  const state = leaseHandle(lease).core.check();
  return state === 'jeopardy' ? 'held' : state;
}

/** Ends a lease from our side: the signal aborts, renewals end, nothing is released before the handler has settled. */
export function loseLease(lease: Lease, reason: LeaseLostReason, cause?: unknown): void {
  leaseHandle(lease).core.lose(reason, cause);
}

/**
 * The handler has settled: gives the lease back, and tells the loss to report, if there was one. A lease lost on the way is
 * freed in the background, so that the next holder need not wait for the ttl. A lease that the clocks cannot vouch for was
 * held if the store still knew us at the release. Never rejects.
 */
export async function settleLease(lease: Lease): Promise<LeaseLostError | undefined> {
  const handle = leaseHandle(lease);
  const { core } = handle;
  const state = core.check();
  if (state === 'lost') {
    void handle.free();
    return core.lost;
  }
  const freed = await handle.free();
  if (state !== 'suspect' || freed) return undefined;
  return core.suspectError();
}

/** The release of a lease that was given back (by its holder or by us), or `undefined` while it was not. Never rejects. */
export function givenBack(lease: Lease): Promise<boolean> | undefined {
  return leaseHandle(lease).freed();
}

/** The ttl that renewals of this lease ask for. */
export function ttlOf(lease: Lease): number {
  return leaseHandle(lease).core.ttlMs;
}

/** How long it has been held, by the monotonic clock. */
export function heldMsOf(lease: Lease): number {
  return leaseHandle(lease).core.heldMs();
}
