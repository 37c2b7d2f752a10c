/** The literal codes of the errors of this library. Tell errors apart by code: it survives minified and duplicated builds. */
export type LeaseErrorCode =
  | 'LEASE_BUSY'
  | 'LEASE_LOST'
  | 'LEASE_UNAVAILABLE'
  | 'LEASE_NOT_DURABLE'
  | 'LEASE_SHUTDOWN'
  | 'LEASE_KEY_INVALID'
  | 'LEASE_OPTIONS_INVALID'
  | 'FENCING_TOKEN_STALE'
  | 'EFFECT_UNCERTAIN'
  | 'EFFECT_RESULT_UNUSABLE';

/** What every error of this library has in common. */
export interface LeaseError extends Error {
  /** Says which error this is; the one thing to branch on. */
  readonly code: LeaseErrorCode;
  /** The key the caller asked for, where the error concerns one. Never part of an HTTP body. */
  readonly key?: string;
  /** What led to this error: the error of the store, or of the handler that ran while the lease was lost. */
  readonly cause?: unknown;
}

const CODES: ReadonlySet<string> = new Set<LeaseErrorCode>([
  'LEASE_BUSY',
  'LEASE_LOST',
  'LEASE_UNAVAILABLE',
  'LEASE_NOT_DURABLE',
  'LEASE_SHUTDOWN',
  'LEASE_KEY_INVALID',
  'LEASE_OPTIONS_INVALID',
  'FENCING_TOKEN_STALE',
  'EFFECT_UNCERTAIN',
  'EFFECT_RESULT_UNUSABLE',
]);

/** What an HTTP, RPC or WebSocket answer may say of an error: never the key, never the holder. */
export interface LeaseErrorBody {
  readonly code: LeaseErrorCode;
  /** Milliseconds after which a new try makes sense, where that is known. */
  readonly retryAfterMs?: number;
  /** The token a resource has accepted last; only in the answer to a service that presented a token of its own. */
  readonly current?: number;
}

/** True for an error that carries one of our codes, whichever copy of this package made it. */
export function hasLeaseErrorCode(error: unknown, code?: LeaseErrorCode): error is LeaseError {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error)) return false;
  return typeof error.code === 'string' && CODES.has(error.code) && (code === undefined || error.code === code);
}
