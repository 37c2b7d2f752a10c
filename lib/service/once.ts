import { EffectResultError } from '../errors/effect-result.error.js';
import { EffectUncertainError } from '../errors/effect-uncertain.error.js';
import { hasLeaseErrorCode } from '../errors/lease-error.js';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { Effects, type EffectEnding } from '../lease/effects.js';
import type { LeaseEngine } from '../lease/lease-engine.js';
import { resolveAcquireOptions, type AcquireOptions } from '../lease/lease-options.js';
import type { Lease } from '../lease/lease.js';
import { StoreError } from '../stores/lease-store.js';
import { parseDuration, type Duration } from '../time/duration.js';
import type { LeasedCalls } from './leased-calls.js';
import { resultOf, resultOfText, textOfResult } from './recorded-result.js';

/** Options of `once`: those of a lease, and how long the result counts. */
export interface OnceOptions extends AcquireOptions {
  /**
   * How long the result, or that a try began, is remembered: at most 30 days. Longer than any caller may repeat the call, and
   * longer than `fn` may run.
   */
  readonly keepFor: Duration;
  /** `fn` may run once more after a try that nobody ended: at least once instead of at most once, with a higher fencing token. Default: false. */
  readonly rerun?: boolean | undefined;
}

/** What `once` works with. */
export interface OnceParts {
  readonly engine: LeaseEngine;
  readonly calls: LeasedCalls;
}

const LONGEST_KEPT_MS = 30 * 86_400_000;

/** `LeaseService.once`, for a key that was checked. */
export async function once<T>(parts: OnceParts, key: string, fn: (lease: Lease) => T, options: OnceOptions): Promise<Awaited<T>> {
  const { keepFor, rerun = false, ...leaseOptions } = checked(key, fn, options);
  const keepMs = parseDuration('keepFor', keepFor, { maxMs: LONGEST_KEPT_MS });
  const { ttlMs } = resolveAcquireOptions(leaseOptions, parts.engine.defaults);
  const effects = new Effects(parts.engine);
  // A repeat needs no lease.
  const known = await effects.find(key);
  if (known && known.state !== 'started') return resultOf(key, known) as Awaited<T>;
  const call = { ...leaseOptions, reentry: 'error', site: `once('${key}')` } as const;
  const attempt = new Attempt(effects, { keepMs, rerun, ttlMs }, fn);
  return parts.calls.withLease(key, call, (lease) => attempt.run(lease)) as Promise<Awaited<T>>;
}

interface Terms {
  readonly keepMs: number;
  readonly rerun: boolean;
  readonly ttlMs: number;
}

/** One try, under the lease of its key. */
class Attempt {
  constructor(
    private readonly effects: Effects,
    private readonly terms: Terms,
    private readonly fn: (lease: Lease) => unknown,
  ) {}

  async run(lease: Lease): Promise<unknown> {
    const { keepMs, rerun, ttlMs } = this.terms;
    // Longer than the lease, or a crash could not be told from an effect that nobody began.
    const begun = await this.effects.start(lease, Math.max(keepMs, 2 * ttlMs), rerun);
    if (begun.kind === 'known') return resultOf(lease.key, begun.record);
    const kept = textOfResult(await this.call(lease));
    if ('reason' in kept) {
      await this.settle(lease, { outcome: 'unusable', text: kept.reason, keepMs });
      throw new EffectResultError(lease.key, kept.reason);
    }
    await this.settle(lease, { outcome: 'done', text: kept.text, keepMs });
    return resultOfText(kept.text);
  }

  /** An error says that it did not take effect, except one that says that this is not known. */
  private async call(lease: Lease): Promise<unknown> {
    try {
      return await this.fn(lease);
    } catch (error) {
      const uncertain = hasLeaseErrorCode(error, 'EFFECT_UNCERTAIN') || hasLeaseErrorCode(error, 'LEASE_LOST');
      if (!uncertain) await this.effects.forget(lease);
      throw error;
    }
  }

  private async settle(lease: Lease, ending: EffectEnding): Promise<void> {
    try {
      await this.effects.settle(lease, ending);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const detail = `it was run, and the store did not take its result (${error.message})`;
      throw new EffectUncertainError(lease.key, { detail, fencingToken: lease.fencingToken, cause: error.cause ?? error });
    }
  }
}

/** @throws LeaseOptionsError */
function checked(key: string, fn: unknown, options: OnceOptions | undefined): OnceOptions {
  const example = `write once(key, async (lease) => …, { keepFor: '1d' })`;
  if (typeof fn !== 'function') throw new LeaseOptionsError('fn', `once('${key}') was given no function to run: ${example}.`);
  if (typeof options === 'object' && (options as OnceOptions | null)?.keepFor !== undefined) return options;
  throw new LeaseOptionsError('keepFor', `once('${key}') was not told how long its result is kept: ${example}.`);
}
