import type { EffectResultError } from './effect-result.error.js';
import type { EffectUncertainError } from './effect-uncertain.error.js';
import { hasLeaseErrorCode, type LeaseError, type LeaseErrorCode } from './lease-error.js';
import type { LeaseBusyError } from './lease-busy.error.js';
import type { LeaseKeyError } from './lease-key.error.js';
import type { LeaseLostError } from './lease-lost.error.js';
import type { LeaseNotDurableError } from './lease-not-durable.error.js';
import type { LeaseOptionsError } from './lease-options.error.js';
import type { LeaseShutdownError } from './lease-shutdown.error.js';
import type { LeaseUnavailableError } from './lease-unavailable.error.js';
import type { StaleFencingTokenError } from './stale-fencing-token.error.js';

/** Which error class stands behind a code. */
export interface LeaseErrorByCode {
  LEASE_BUSY: LeaseBusyError;
  LEASE_LOST: LeaseLostError;
  LEASE_UNAVAILABLE: LeaseUnavailableError;
  LEASE_NOT_DURABLE: LeaseNotDurableError;
  LEASE_SHUTDOWN: LeaseShutdownError;
  LEASE_KEY_INVALID: LeaseKeyError;
  LEASE_OPTIONS_INVALID: LeaseOptionsError;
  FENCING_TOKEN_STALE: StaleFencingTokenError;
  EFFECT_UNCERTAIN: EffectUncertainError;
  EFFECT_RESULT_UNUSABLE: EffectResultError;
}

/** True for an error of this library (any copy of it), with `code` only for that one; narrows the type. */
export function isLeaseError(error: unknown): error is LeaseError;
export function isLeaseError<C extends LeaseErrorCode>(error: unknown, code: C): error is LeaseErrorByCode[C];
export function isLeaseError(error: unknown, code?: LeaseErrorCode): boolean {
  return hasLeaseErrorCode(error, code);
}
