import { LeaseOptionsError } from '../errors/lease-options.error.js';
import type { LeaseDefaults, ResolvedAcquireOptions } from '../lease/lease-options.js';
import { parseMaxHold, parseTtl } from '../time/lease-durations.js';
import { parseDuration, type Duration } from '../time/duration.js';

/** How a `LeasedJobWorker` is set up. */
export interface LeasedJobWorkerOptions {
  /** The key of the lease of a job: the same in all replicas. */
  readonly keyOf: (jobId: string) => string;
  /** How long a claim lives without a renewal, and so after a crash. Default: the module's `ttl` (30 s). */
  readonly ttl?: Duration | undefined;
  /** Longest time one job may take, at most 7 days; then its claim is lost. Default: the module's `maxHold` (none). */
  readonly maxHold?: Duration | undefined;
  /** How many claims this worker has at once. Default: no limit. */
  readonly concurrency?: number | undefined;
  /** How long nobody may claim a job whose `run` has failed, at most a day. Default: not at all. */
  readonly retryAfter?: Duration | undefined;
}

/** After the check. */
export interface ResolvedWorkerOptions {
  readonly keyOf: (jobId: string) => string;
  readonly acquire: ResolvedAcquireOptions;
  readonly concurrency: number;
  readonly retryAfterMs: number;
}

const DAY_MS = 86_400_000;

/** @throws LeaseOptionsError */
export function resolveWorkerOptions(options: LeasedJobWorkerOptions, defaults: LeaseDefaults): ResolvedWorkerOptions {
  const { keyOf, ttl, maxHold, concurrency = Infinity, retryAfter } = options;
  if (typeof keyOf !== 'function') {
    throw new LeaseOptionsError('keyOf', 'The option "keyOf" of a LeasedJobWorker must be a function, such as (id) => `job:${id}`.');
  }
  if (!(concurrency === Infinity || (Number.isSafeInteger(concurrency) && concurrency > 0))) {
    throw new LeaseOptionsError('concurrency', `The option "concurrency" is ${String(concurrency)}: it must be a whole number, 1 or more.`);
  }
  const acquire = {
    ttlMs: ttl === undefined ? defaults.ttlMs : parseTtl(ttl),
    waitMs: 0,
    maxHoldMs: maxHold === undefined ? defaults.maxHoldMs : parseMaxHold(maxHold),
  };
  return { keyOf, acquire, concurrency, retryAfterMs: parseRetryAfter(retryAfter) };
}

/** As milliseconds; 0 where it is left out. @throws LeaseOptionsError */
export function parseRetryAfter(value: Duration | undefined): number {
  return value === undefined ? 0 : parseDuration('retryAfter', value, { zero: true, maxMs: DAY_MS });
}
