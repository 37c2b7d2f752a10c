import type { LeaseLostError } from '../errors/lease-lost.error.js';
import { REFUSED_BY_FENCE, type StaleFencingTokenError } from '../errors/stale-fencing-token.error.js';
import type { LeaseCore } from './lease-core.js';
import { parseTtl } from './lease-options.js';
import type { Duration } from '../time/duration.js';

/** What a `Lease` is built on; for this library only. */
export interface LeaseHandle {
  readonly core: LeaseCore;
  /** Asks the store for a renewal now. */
  ask(): void;
  /** Gives the lease back; resolves with true when this call freed it. Never rejects. */
  free(): Promise<boolean>;
  /** The release that was begun, or `undefined` while nobody has given the lease back. */
  freed(): Promise<boolean> | undefined;
}

let handleOf: (lease: Lease) => LeaseHandle;

/** A lease that was acquired: what a handler needs to know whether it may go on. Made by `LeaseService`, never by hand. */
export class Lease implements AsyncDisposable {
  readonly #handle: LeaseHandle;

  static {
    handleOf = (lease) => lease.#handle;
  }

  /** @internal */
  constructor(handle: LeaseHandle) {
    this.#handle = handle;
  }

  /** The key that was asked for. */
  get key(): string {
    return this.#handle.core.key;
  }

  /** Higher than that of every earlier lease of this key. A safe integer: give it to what you write to, and let that refuse lower ones. */
  get fencingToken(): number {
    return this.#handle.core.fencingToken;
  }

  /** Random for each acquisition; proves ownership. Secret: do not log or show it, `holderTag` is for that. */
  get holderId(): string {
    return this.#handle.core.holderId;
  }

  /** Short hash of `holderId`: what guards compare and operators see. */
  get holderTag(): string {
    return this.#handle.core.holderTag;
  }

  /**
   * Aborts with a `LeaseLostError` as reason when the lease is lost (from the soft deadline on, 2/3 of the ttl after the last
   * confirmed renewal left). `aborted` and `throwIfAborted()` also look at the clock; listeners and `AbortSignal.any()` hear of
   * it when the event loop runs, so that after long synchronous work only `assertHeld()` is exact.
   */
  get signal(): AbortSignal {
    return this.#handle.core.notice.signal;
  }

  /** Resolves with the error when the lease is lost; stays pending after a normal release. Never rejects. */
  get lost(): Promise<LeaseLostError> {
    return this.#handle.core.notice.lost;
  }

  /** Milliseconds until somebody else may hold it (the hard deadline), by the clocks at this call; 0 once lost or released. */
  remainingMs(): number {
    return this.#handle.core.remainingMs();
  }

  /**
   * Returns while the lease is ours by the clocks at this very call, also right after a blocked event loop.
   * @throws LeaseLostError from the soft deadline on, while the machine may have been suspended (`suspect`), and after release
   */
  assertHeld(): void {
    const { core } = this.#handle;
    const state = core.check();
    if (state === 'lost') throw core.lost as LeaseLostError;
    if (state === 'released') throw core.releasedError();
    if (state === 'suspect') throw core.suspectError();
  }

  /**
   * Renews now; resolves when the store has confirmed. Renewals are made by themselves, so this is for a new `ttl`, which also
   * holds for those to come. Never shortens what was granted.
   * @throws LeaseLostError when the lease is lost or released; LeaseOptionsError
   */
  async renew(ttl?: Duration): Promise<void> {
    const { core } = this.#handle;
    const ttlMs = ttl === undefined ? core.ttlMs : parseTtl(ttl);
    const state = core.check();
    if (state === 'lost') throw core.lost as LeaseLostError;
    if (state === 'released') throw core.releasedError();
    core.ttlMs = ttlMs;
    const confirmed = core.confirmed(ttlMs);
    this.#handle.ask();
    await confirmed;
  }

  /** Gives the lease back. Safe to repeat: `true` when this call freed it, `false` when it was over already or the store did not answer. Never throws. */
  release(): Promise<boolean> {
    return this.#handle.free();
  }

  /** @internal A guard of a protected resource refused the token: a newer holder has written, so this lease is lost. */
  [REFUSED_BY_FENCE](error: StaleFencingTokenError): void {
    this.#handle.core.lose('fenced', error);
  }

  /** `await using lease = …` releases at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}

/** For the rooms that run handlers. */
export function leaseHandle(lease: Lease): LeaseHandle {
  return handleOf(lease);
}
