import { LeaseHttpError } from './lease-http-error.js';

/** What is known of the present holder when a call is refused. */
export interface BusyDetails {
  /** How the holder describes itself to operators (the `holder` option, `hostname:pid` by default). */
  readonly holder?: string | undefined;
  /** Short hash of the holder's secret id. */
  readonly holderTag?: string | undefined;
  /** Token of the present holder. */
  readonly fencingToken?: number | undefined;
  /** Milliseconds until the lease runs out if nobody renews it. */
  readonly retryAfterMs?: number | undefined;
  /** Why, where it is not simply held: the queue is full, an outer call holds it. */
  readonly detail?: string | undefined;
  readonly cause?: unknown;
}

/** Somebody else holds the lease: HTTP 409 with `Retry-After`. Nothing was run. */
export class LeaseBusyError extends LeaseHttpError {
  readonly code = 'LEASE_BUSY';
  readonly holder?: string;
  readonly holderTag?: string;
  readonly fencingToken?: number;

  constructor(key: string, details: BusyDetails = {}) {
    const { holder, holderTag, fencingToken, retryAfterMs, detail, cause } = details;
    const by = holder === undefined ? 'by another holder' : `by ${holder}`;
    const again = retryAfterMs === undefined ? 'try again later' : `try again in ${String(retryAfterMs)} ms`;
    super({
      name: 'LeaseBusyError',
      code: 'LEASE_BUSY',
      status: 409,
      message: `The lease "${key}" is busy: ${detail ?? `it is held ${by}`}; ${again}, or give the call a "wait".`,
      publicMessage: 'Somebody else is working on this; try again later.',
      key,
      retryAfterMs,
      cause,
    });
    if (holder !== undefined) this.holder = holder;
    if (holderTag !== undefined) this.holderTag = holderTag;
    if (fencingToken !== undefined) this.fencingToken = fencingToken;
  }
}
