import { hasLeaseErrorCode } from '../errors/lease-error.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import { loseLease } from '../lease/lease-control.js';
import type { SharedLease } from './shared-lease.js';

/**
 * A call has failed with `error`: leaves its lease, and gives what the call rejects with. A refusal of the lease's own token means
 * that a newer holder has written, also where the guard was told the token and not the lease.
 */
export async function settleFailed(shared: SharedLease, error: unknown): Promise<unknown> {
  const { lease } = shared;
  const refused = hasLeaseErrorCode(error, 'FENCING_TOKEN_STALE') && 'fencingToken' in error && error.fencingToken === lease.fencingToken;
  if (refused) loseLease(lease, 'fenced', error);
  return failureOf(await shared.leave(), error);
}

/**
 * What a call rejects with whose handler failed: the handler's own error, or the loss of the lease with that error as its cause.
 * A handler that passes on the very loss (`signal.throwIfAborted()`, a joined call), or what caused it, is not wrapped again.
 */
function failureOf(loss: LeaseLostError | undefined, error: unknown): unknown {
  if (loss === undefined || isSameLoss(loss, error)) return error;
  if (loss.cause === error) return loss;
  const { key = '', reason, fencingToken } = loss;
  const reported = new LeaseLostError(key, reason, { ...(fencingToken === undefined ? {} : { fencingToken }), cause: error });
  reported.message = loss.message;
  return reported;
}

function isSameLoss(loss: LeaseLostError, error: unknown): boolean {
  if (!hasLeaseErrorCode(error, 'LEASE_LOST')) return false;
  return error === loss || (error.key === loss.key && 'fencingToken' in error && error.fencingToken === loss.fencingToken);
}
