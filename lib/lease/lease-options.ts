import { LeaseOptionsError } from '../errors/lease-options.error.js';
import type { Duration } from '../time/duration.js';
import { parseMaxHold, parseTtl, parseWait } from '../time/lease-durations.js';

export { parseMaxHold, parseTtl, parseWait };

/** Options of one acquisition. What is left out falls back to the defaults of the module. */
export interface AcquireOptions {
  /** How long the lease lives without a renewal: 100 ms to one day. Default: the module's `ttl` (30 s). */
  readonly ttl?: Duration | undefined;
  /** How long to wait for a busy lease, at most a day; `0` tries once. Default: the module's `wait` (no wait). */
  readonly wait?: Duration | undefined;
  /** Aborts the wait, which then rejects with the signal's reason. Does not end a lease that was granted. */
  readonly signal?: AbortSignal | undefined;
  /** Longest time to hold it, at most 7 days; then the lease is lost with reason `max-hold`. Default: the module's `maxHold` (none). */
  readonly maxHold?: Duration | undefined;
  /** The fencing token must be higher than this, for example the highest that a resource has reported. */
  readonly minToken?: number | undefined;
}

/** Defaults of one service, in milliseconds. */
export interface LeaseDefaults {
  readonly ttlMs: number;
  readonly waitMs: number;
  readonly maxHoldMs?: number | undefined;
  /** Longest time one call to the store may take. */
  readonly commandTimeoutMs: number;
}

/** Options of one acquisition after the check, in milliseconds. */
export interface ResolvedAcquireOptions {
  readonly ttlMs: number;
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly maxHoldMs?: number | undefined;
  readonly minToken?: number | undefined;
}

/**
 * Checks the options of one acquisition and fills in the defaults; cheap, since it runs on every call.
 * @throws LeaseOptionsError
 */
export function resolveAcquireOptions(options: AcquireOptions | undefined, defaults: LeaseDefaults): ResolvedAcquireOptions {
  if (options === undefined) return defaults;
  const given: unknown = options;
  if (typeof given !== 'object' || given === null) {
    throw new LeaseOptionsError(
      'options',
      `The options of a lease are ${String(given)}: give an object such as { ttl: 60 }, or leave them out.`,
    );
  }
  const { ttl, wait, maxHold, minToken, signal } = options;
  return {
    ttlMs: ttl === undefined ? defaults.ttlMs : parseTtl(ttl),
    waitMs: wait === undefined ? defaults.waitMs : parseWait(wait),
    maxHoldMs: maxHold === undefined ? defaults.maxHoldMs : parseMaxHold(maxHold),
    minToken: minToken === undefined ? undefined : checkMinToken(minToken),
    signal: signal === undefined ? undefined : checkSignal(signal),
  };
}

function checkMinToken(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new LeaseOptionsError(
    'minToken',
    `The option "minToken" is ${String(value)}: it must be a safe integer, a fencing token that was seen before.`,
  );
}

function checkSignal(value: unknown): AbortSignal {
  // By shape, not by class: a signal may come from another realm.
  if (typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value) return value as AbortSignal;
  throw new LeaseOptionsError('signal', `The option "signal" is ${String(value)}: it must be an AbortSignal.`);
}
