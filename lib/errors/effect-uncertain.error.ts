import { LeaseHttpError } from './lease-http-error.js';

/** What is known of the try that did not end. */
export interface UncertainDetails {
  /** Why it is not known; left out where the try has crashed. */
  readonly detail?: string | undefined;
  /** Token of the lease that the try ran under. */
  readonly fencingToken?: number | undefined;
  /** How its process describes itself to operators. */
  readonly holder?: string | undefined;
  /** When it began, in milliseconds since the epoch by the store's clock. */
  readonly startedAt?: number | undefined;
  readonly cause?: unknown;
}

/**
 * It is not known whether the effect of `once` has taken place: HTTP 409. An earlier try began and nobody said how it ended (its
 * process crashed, or lost its lease), or this try could not be recorded. Find out at the system that the effect reaches, and
 * then either do nothing, or call `once` with `rerun: true`. The function given to `once` may throw it too, when it cannot tell
 * whether it took effect: then repeats are told the same.
 */
export class EffectUncertainError extends LeaseHttpError {
  readonly code = 'EFFECT_UNCERTAIN';
  readonly fencingToken?: number;
  readonly holder?: string;
  readonly startedAt?: number;

  constructor(key: string, details: UncertainDetails = {}) {
    const { detail, fencingToken, holder, startedAt, cause } = details;
    const began = startedAt === undefined ? '' : ` at ${new Date(startedAt).toISOString()}`;
    const by = holder === undefined ? '' : ` on ${holder}`;
    super({
      name: 'EffectUncertainError',
      code: 'EFFECT_UNCERTAIN',
      status: 409,
      message: `Whether the effect "${key}" has taken place is not known: ${detail ?? `a try began${began}${by} and never ended`}. Find out, and call once with rerun: true if it may run once more.`,
      publicMessage: 'An earlier try of this did not finish; whether it took effect is not known.',
      key,
      cause,
    });
    if (fencingToken !== undefined) this.fencingToken = fencingToken;
    if (holder !== undefined) this.holder = holder;
    if (startedAt !== undefined) this.startedAt = startedAt;
  }
}
