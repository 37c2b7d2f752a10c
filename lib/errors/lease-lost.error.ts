import { LeaseHttpError } from './lease-http-error.js';

/**
 * Why a lease was lost: `expired` (the key is gone, or our clock says so), `taken` (another holder has the key), `store` (no
 * answer until the soft deadline), `suspect` (the machine may have been suspended and the store has not confirmed yet),
 * `max-hold`, `shutdown`, `fenced` (a protected resource refused the token).
 */
export type LeaseLostReason = 'expired' | 'taken' | 'store' | 'suspect' | 'max-hold' | 'shutdown' | 'fenced';

const WHY: Record<LeaseLostReason, string> = {
  expired: 'its time ran out before a renewal was confirmed',
  taken: 'another holder has taken it',
  store: 'the store did not answer until the deadline',
  suspect: 'the machine seems to have been suspended and the store has not confirmed the lease since',
  'max-hold': 'it was held for longer than maxHold allows',
  shutdown: 'the application is shutting down and its grace is over',
  fenced: 'a protected resource has already accepted a higher fencing token',
};

/** We held the lease and hold it no longer: HTTP 503. Stop working and write nothing. */
export class LeaseLostError extends LeaseHttpError {
  readonly code = 'LEASE_LOST';
  readonly reason: LeaseLostReason;
  /** Token of the lease that was lost. */
  readonly fencingToken?: number;

  constructor(key: string, reason: LeaseLostReason, options: { fencingToken?: number; detail?: string; cause?: unknown } = {}) {
    const token = options.fencingToken === undefined ? '' : ` (fencing token ${String(options.fencingToken)})`;
    super({
      name: 'LeaseLostError',
      code: 'LEASE_LOST',
      status: 503,
      message: `The lease "${key}"${token} was lost: ${options.detail ?? WHY[reason]}. Stop the work it protected; a write that is still made must carry the token and be checked.`,
      publicMessage: 'The work was interrupted; it is not known to be complete.',
      key,
      cause: options.cause,
    });
    this.reason = reason;
    if (options.fencingToken !== undefined) this.fencingToken = options.fencingToken;
  }
}
