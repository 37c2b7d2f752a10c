import { isLeaseError } from '../errors/is-lease-error.js';
import { REFUSED_BY_FENCE } from '../errors/stale-fencing-token.error.js';
import type { FencedBy } from './fenced-by.js';

/** What a resource remembers of its last accepted writer. */
export interface Fence {
  readonly token: number;
  readonly holderTag: string;
}

/** Remembers, for each resource, the highest token it has accepted, and refuses what is older. */
export interface FencingGuard {
  /**
   * Checks and remembers in one step. Alone it is a check **at the door**: between it and a write that follows, a newer holder
   * may come in. Where the write itself can carry the check (`fencedUpdate`, `acceptFence` in the transaction of the write,
   * `RedisFencingGuard`), let it.
   * @param resource name of what is written to; under one key only, since tokens of different keys say nothing about each other
   * @throws StaleFencingTokenError when a higher token, or the same one from another holder, was accepted before
   * @throws LeaseOptionsError for a token or tag that cannot be compared
   */
  accept(resource: string, token: number, holderTag: string): Promise<void>;
}

/**
 * The rule, in words and code: refuse a lower token, and an equal one from another holder; the same holder may write again.
 * SQL conditions and Redis scripts restate it, and one table of cases in the tests holds all of them against this.
 */
export function refuses(fence: Fence | undefined, token: number, holderTag: string): boolean {
  if (fence === undefined) return false;
  return token < fence.token || (token === fence.token && holderTag !== fence.holderTag);
}

/**
 * Takes `lease` past a guard; when the guard refuses it, the lease counts as lost (reason `fenced`).
 * @throws StaleFencingTokenError
 */
export async function passFence(guard: FencingGuard, resource: string, lease: FencedBy): Promise<void> {
  try {
    await guard.accept(resource, lease.fencingToken, lease.holderTag);
  } catch (error) {
    if (isLeaseError(error, 'FENCING_TOKEN_STALE')) lease[REFUSED_BY_FENCE]?.(error);
    throw error;
  }
}
