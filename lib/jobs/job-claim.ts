import type { LeaseLostError } from '../errors/lease-lost.error.js';
import type { Lease } from '../lease/lease.js';

/** A job that this worker may work on: its lease is held and kept alive until the job is completed or abandoned. */
export interface JobClaim {
  readonly jobId: string;
  readonly lease: Lease;
  /** Higher than that of every earlier claim of this job: give it to what the job writes to. */
  readonly fencingToken: number;
  /** Aborts when the claim is lost: stop the work. */
  readonly signal: AbortSignal;
}

/**
 * What came of a run. `done`: the function has finished under its claim, with this result. `busy`: another worker has the job, or
 * it was abandoned and may not be tried yet; nothing was run. `lost`: the claim was lost on the way, so another worker may do it.
 */
export type RunOutcome<T = unknown> =
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'busy' } | { readonly kind: 'lost'; readonly error: LeaseLostError };
