import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { REFUSED_BY_FENCE, StaleFencingTokenError, type StaleTokenDetails } from '../errors/stale-fencing-token.error.js';

/** Who writes, as a protected resource sees it. Every `Lease` is one; so is what another service sent along with its request. */
export interface FencedBy {
  /** Key of the lease; for messages. */
  readonly key: string;
  /** Higher than that of every earlier holder. A safe integer. */
  readonly fencingToken: number;
  /** Tells two holders apart that have the same token: only the same holder may write again with it. */
  readonly holderTag: string;
  /** Called when a resource has refused the token. A `Lease` counts as lost from then on, with the reason `fenced`. */
  [REFUSED_BY_FENCE]?(error: StaleFencingTokenError): void;
}

/** Longest holder tag that a resource has to store, in characters. */
export const LONGEST_HOLDER_TAG = 64;
const HOLDER_TAG = /^[\x21-\x7e]+$/;

/**
 * Refuses what no resource can compare, before anything is sent to it.
 * @throws LeaseOptionsError for a token that is not a whole number between 1 and 2^53 − 1, and for an empty or long holder tag
 */
export function checkToken(fencingToken: unknown, holderTag: unknown): void {
  if (typeof fencingToken !== 'number') {
    const what = typeof fencingToken === 'string' ? `the string '${fencingToken}'` : typeof fencingToken;
    throw new LeaseOptionsError('fencingToken', `A fencing token is a number; this is ${what}. Give the lease itself, or Number(token).`);
  }
  if (!Number.isSafeInteger(fencingToken) || fencingToken < 1) {
    throw new LeaseOptionsError(
      'fencingToken',
      `${String(fencingToken)} is no fencing token: it must be a whole number from 1 to 2^53 - 1. A token that went through a float column or was computed with is not comparable any more.`,
    );
  }
  if (typeof holderTag !== 'string' || holderTag.length > LONGEST_HOLDER_TAG || !HOLDER_TAG.test(holderTag)) {
    throw new LeaseOptionsError(
      'holderTag',
      `A holder tag is 1 to ${String(LONGEST_HOLDER_TAG)} printable ASCII characters without spaces: give the lease's own holderTag.`,
    );
  }
}

/** Makes the error for `lease` and tells the lease, so that it counts as lost. Throw what it returns. */
export function refused(resource: string, lease: FencedBy, details: StaleTokenDetails = {}): StaleFencingTokenError {
  const error = new StaleFencingTokenError(resource, lease.fencingToken, { key: lease.key, ...details });
  lease[REFUSED_BY_FENCE]?.(error);
  return error;
}
