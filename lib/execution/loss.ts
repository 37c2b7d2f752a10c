import { hasLeaseErrorCode } from '../errors/lease-error.js';
import { LeaseLostError } from '../errors/lease-lost.error.js';

/**
 * What a call rejects with whose handler failed: the handler's own error, or the loss of the lease with that error as its cause.
 * A handler that passes on the very loss (`signal.throwIfAborted()`, a joined call) is not wrapped again.
 */
export function failureOf(loss: LeaseLostError | undefined, error: unknown): unknown {
  if (loss === undefined || isSameLoss(loss, error)) return error;
  const { key = '', reason, fencingToken } = loss;
  const reported = new LeaseLostError(key, reason, { ...(fencingToken === undefined ? {} : { fencingToken }), cause: error });
  reported.message = loss.message;
  return reported;
}

function isSameLoss(loss: LeaseLostError, error: unknown): boolean {
  if (!hasLeaseErrorCode(error, 'LEASE_LOST')) return false;
  return error === loss || (error.key === loss.key && 'fencingToken' in error && error.fencingToken === loss.fencingToken);
}
