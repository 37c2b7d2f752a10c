import { LeaseKeyError } from '../../errors/lease-key.error.js';
import { checkToken, type FencedBy } from '../fenced-by.js';

/** Header with the fencing token, in decimal digits. */
export const FENCING_TOKEN_HEADER = 'fencing-token';
/** Header with the holder tag. */
export const FENCING_HOLDER_HEADER = 'fencing-holder';
/** Header with the lease's key, URI-encoded; for messages only, never what is checked. */
export const FENCING_KEY_HEADER = 'fencing-key';

/**
 * The headers by which another service learns who writes: spread them into the request of any HTTP client.
 * @throws LeaseOptionsError for a token that cannot be compared
 */
export function fencingHeaders(lease: FencedBy): Record<string, string> {
  checkToken(lease.fencingToken, lease.holderTag);
  return {
    [FENCING_TOKEN_HEADER]: String(lease.fencingToken),
    [FENCING_HOLDER_HEADER]: lease.holderTag,
    [FENCING_KEY_HEADER]: encodeURIComponent(lease.key),
  };
}

/**
 * Who writes, as the request says it.
 * @param headers by lower-case name, as Node gives them
 * @throws LeaseKeyError (HTTP 400) when the request carries no token, or one that cannot be read
 */
export function fencedByHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): FencedBy {
  const token = headers[FENCING_TOKEN_HEADER];
  const holderTag = headers[FENCING_HOLDER_HEADER];
  if (typeof token !== 'string' || typeof holderTag !== 'string') {
    throw new LeaseKeyError(
      `The request carries no fencing token: send ${FENCING_TOKEN_HEADER} and ${FENCING_HOLDER_HEADER} (fencingHeaders(lease)).`,
    );
  }
  try {
    const fencingToken = /^\d+$/.test(token) ? Number(token) : NaN;
    checkToken(fencingToken, holderTag);
    return { key: decoded(headers[FENCING_KEY_HEADER]), fencingToken, holderTag };
  } catch (cause) {
    throw new LeaseKeyError(`The fencing headers of the request cannot be read: ${FENCING_TOKEN_HEADER} is ${JSON.stringify(token)}.`, {
      cause,
    });
  }
}

function decoded(key: unknown): string {
  return typeof key === 'string' ? decodeURIComponent(key) : 'unknown';
}
