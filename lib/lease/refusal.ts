import { LeaseNotDurableError } from '../errors/lease-not-durable.error.js';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { LeaseUnavailableError } from '../errors/lease-unavailable.error.js';
import type { StoreError } from '../stores/lease-store.js';

/** What a caller is told when the store has not granted for a reason of its own; `outcome` says what became of the call. */
export function refusalOf(key: string, error: StoreError, outcome: string): Error {
  const detail = `${error.message.replace(/\.?$/, '.')} ${outcome}`;
  const { replicas, retryAfterMs } = error;
  if (replicas) return new LeaseNotDurableError(key, detail, { ...replicas, cause: error });
  return new LeaseUnavailableError(key, detail, {
    cause: error.cause ?? error,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(retryAfterMs) }),
  });
}

/** The caller's `minToken` lies where no token may be. */
export function minTokenError(key: string, minToken: number, cause: StoreError): LeaseOptionsError {
  const message = `The option "minToken" is ${String(minToken)}: it lies more than a day ahead of the store's clock and would poison the key. Give a token that was seen for this key.`;
  return new LeaseOptionsError('minToken', message, { key, cause });
}
