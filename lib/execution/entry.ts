import { LeaseBusyError } from '../errors/lease-busy.error.js';
import { hasLeaseErrorCode } from '../errors/lease-error.js';
import { isHeld, ttlOf } from '../lease/lease-control.js';
import type { LeaseEngine } from '../lease/lease-engine.js';
import { resolveAcquireOptions, type ResolvedAcquireOptions } from '../lease/lease-options.js';
import type { Lease } from '../lease/lease.js';
import type { LeasedCall } from '../metadata/leased-call.js';
import type { LeaseRegistry } from '../service/lease-registry.js';
import { linkedSignal } from '../service/linked-signal.js';
import type { ClientContext, ClientResponse } from './client-context.js';
import type { Frame, LeaseContext } from './lease-context.js';
import { SharedLease } from './shared-lease.js';

/** What the executor of one service works with. */
export interface ExecutorParts {
  readonly engine: LeaseEngine;
  readonly registry: LeaseRegistry;
  readonly context: LeaseContext;
  readonly client: ClientContext;
}

/** Where a call comes from. */
export interface Origin {
  readonly outer: Frame | undefined;
  readonly client: ClientResponse | undefined;
  /** Ends the wait when the caller has lost interest. */
  readonly cancelled?: AbortSignal;
}

/** A call that is not run, since its key is busy and it says `onBusy: 'skip'`. */
export const SKIPPED = Symbol('skipped');

/** The way in: a leased call joins the lease its async context holds, or acquires one of its own. */
export class Entry {
  constructor(private readonly parts: ExecutorParts) {}

  /** The caller and its client, as they are at this moment. */
  origin(): Origin {
    return { outer: this.parts.context.frame, client: this.parts.client.response };
  }

  /**
   * Resolves with the frame to run in; whoever gets one must leave its shared lease.
   * @throws LeaseBusyError, LeaseLostError, LeaseUnavailableError, LeaseShutdownError, LeaseKeyError, LeaseOptionsError, or a signal's reason
   */
  async enter(call: LeasedCall, origin: Origin): Promise<Frame | typeof SKIPPED> {
    const { engine, context, registry } = this.parts;
    // Taken for this very run, which belongs to no call around it.
    if (call.lease) return { owner: engine, shared: new SharedLease(call.lease as Lease, registry), site: call.site, outer: undefined };
    try {
      const key = call.key((held) => context.find(engine, held, origin.outer) !== undefined);
      const options = resolveAcquireOptions(call.options, engine.defaults);
      const outer = context.find(engine, key, origin.outer);
      const shared = (outer && (await this.join(outer, call, options))) ?? (await this.acquire(key, options, origin));
      return { owner: engine, shared, site: call.site, outer: origin.outer };
    } catch (error) {
      if (call.options.onBusy === 'skip' && hasLeaseErrorCode(error, 'LEASE_BUSY')) return SKIPPED;
      throw error;
    }
  }

  /** `undefined` when the outer call has given its lease back, so that an ordinary acquire is right. */
  private async join(outer: Frame, call: LeasedCall, options: ResolvedAcquireOptions): Promise<SharedLease | undefined> {
    const { shared } = outer;
    if (isHeld(shared.lease) === 'released') return undefined;
    shared.lease.assertHeld();
    refuseJoin(outer, call, options);
    shared.join();
    if (call.options.ttl !== undefined && options.ttlMs > ttlOf(shared.lease)) await this.extend(shared, options.ttlMs);
    return shared;
  }

  /** The body must not begin before the longer ttl that it relies on is confirmed. */
  private async extend(shared: SharedLease, ttlMs: number): Promise<void> {
    try {
      await shared.lease.renew(`${String(ttlMs)}ms`);
    } catch (error) {
      await shared.leave();
      throw error;
    }
  }

  private async acquire(key: string, options: ResolvedAcquireOptions, origin: Origin): Promise<SharedLease> {
    const { registry } = this.parts;
    const waits = options.waitMs > 0 || origin.cancelled !== undefined;
    const lease = await (waits ? this.wait(key, options, origin) : registry.acquire(key, options));
    return new SharedLease(lease, registry);
  }

  private async wait(key: string, options: ResolvedAcquireOptions, { client, cancelled }: Origin): Promise<Lease> {
    const gone = client && this.parts.client.signalOf(client);
    const link = linkedSignal([options.signal, gone?.signal, cancelled]);
    try {
      return await this.parts.registry.acquire(key, { ...options, signal: link.signal });
    } catch (error) {
      if (!gone?.signal.aborted || error !== gone.signal.reason) throw error;
      throw new LeaseBusyError(key, { detail: 'its client went away while the call waited for it', cause: error });
    } finally {
      link.unlink();
      gone?.unlink();
    }
  }
}

/** @throws LeaseBusyError where the outer lease is not what the nested call asks for */
function refuseJoin({ shared: { lease }, site }: Frame, call: LeasedCall, { minToken }: ResolvedAcquireOptions): void {
  const { key, fencingToken, holderTag } = lease;
  const refuse = (detail: string): LeaseBusyError =>
    new LeaseBusyError(key, { detail, fencingToken, holderTag, retryAfterMs: lease.remainingMs() });
  if (call.options.reentry === 'error') {
    throw refuse(`${site} holds it and calls ${call.site}, which must not share it (reentry: 'error')`);
  }
  if (minToken !== undefined && minToken > fencingToken) {
    throw refuse(`${site} holds it with fencing token ${String(fencingToken)}, below the minToken ${String(minToken)} of ${call.site}`);
  }
}
