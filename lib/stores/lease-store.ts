import type { EffectStore } from './effect-store.js';
import type { InstantStore } from './instant-store.js';
import type { JobStore } from './job-store.js';
import type { StoreNotice } from './store-notice.js';
import type { StoreSubscription, Wake } from './store-subscription.js';

export type { AmnesiaNotice, StoreNotice } from './store-notice.js';
export type { StoreSubscription, Wake } from './store-subscription.js';
import type { QuorumNode } from './quorum-node.js';

/**
 * The store port: what a lease needs of the system that remembers it, in the words of leases. A store never reads the clock
 * of the process for a decision that another process also makes: it has one clock of its own.
 */
export interface LeaseStore {
  readonly capabilities: StoreCapabilities;
  /** Remembers instants of scheduled jobs; a store without it cannot serve `@SingletonCron`. */
  readonly instants?: InstantStore;
  /** Remembers what `once` has done; a store without it cannot serve `once`. */
  readonly effects?: EffectStore;
  /** Chooses among many leases for job workers, which otherwise ask for one after another. */
  readonly jobs?: JobStore;
  /** Lets the store be one node of a quorum. */
  readonly quorumNode?: QuorumNode;
  /**
   * One try to get the lease. Idempotent by `holderId`: asked again by the same holder it gives the same token and the full ttl
   * again. A try that fails changes nothing, the fence included. With `wait` it takes a place in the line where the lease is
   * busy; asked again it keeps that place, and it claims a lease that was offered. Nobody takes a free lease past the line: a
   * try that finds live waiters in front offers it to the first of them.
   * @throws StoreError
   */
  acquire(request: AcquireRequest): Promise<Granted | Busy | Queued>;
  /**
   * Extends leases, in one round trip where it can; one answer for each request, in order, and the failure of one concerns
   * that one only (`unknown`). Never creates a lease, never shortens one, and heals a missing or lower fence.
   */
  renew(requests: readonly RenewRequest[]): Promise<RenewResult[]>;
  /** Ends the lease if `holderId` still holds it. Safe to repeat: a repeated release never touches the next holder. */
  release(request: ReleaseRequest): Promise<ReleaseResult>;
  /**
   * Undoes an acquire whose answer was not waited for, and ends a wait: whatever `holderId` holds of the key, its place in the
   * line and an offer included, is gone afterwards; an offer is passed on. Safe to repeat.
   */
  leave(request: LeaveRequest): Promise<void>;
  /**
   * Says that a process still waits, for each key it waits for: within 10 s of the last word, or its waiters are passed over.
   * One answer for each request, in order; `undefined` for one that could not be asked. Where `wakeUp` is `poll` there is nothing
   * to say, and it is never called.
   */
  attend(requests: readonly AttendRequest[]): Promise<(Attended | undefined)[]>;
  /** What is known of the key now, or `undefined` when it is free. Never answered from a replica. */
  inspect(key: string): Promise<LeaseRecord | undefined>;
  /** Ends the lease whoever holds it, keeping the fence, so that the next token is higher. `undefined` when it was free. */
  forceRelease(key: string): Promise<LeaseRecord | undefined>;
  /** Resolves when the store answers; for `connectOnStart`. */
  ping(): Promise<void>;
  /** Told when a call was given up for want of an answer, so that a store may drop a connection that is half open. */
  unanswered?(): void;
  /** Calls the listener with what happens at the store, and not to one call; the function returned ends it. */
  onNotice?(listener: (notice: StoreNotice) => void): () => void;
  /** Hand-over notices for the process of that name; a store whose wake-up is `poll` never calls the listener. */
  onWake(process: string, listener: (wake: Wake) => void): StoreSubscription;
  /** Ends what the store has opened itself, and nothing that was handed to it. Safe to repeat. */
  close(): Promise<void>;
}

/** What a store can do; the contract suite is parametrised by it. */
export interface StoreCapabilities {
  /** Shown in messages, for example `redis`. */
  readonly name: string;
  /** Tokens survive the process: `memory` forgets them with it. */
  readonly shared: boolean;
  /** Whose clock decides about expiry. */
  readonly clock: 'server' | 'process';
  /** How a waiter learns that its turn has come. */
  readonly wakeUp: 'push' | 'poll';
  /** Waiters are served in the order in which they came. */
  readonly fifo: boolean;
}

/** One try to get a lease. */
export interface AcquireRequest {
  /** The user's key, unescaped. */
  readonly key: string;
  /** Random for each acquisition; proves ownership; secret. */
  readonly holderId: string;
  /** Short hash of `holderId`, shown to others. */
  readonly holderTag: string;
  /** How the process describes itself to operators. */
  readonly holder: string;
  readonly ttlMs: number;
  /** The token granted must be higher than this. A value more than a day ahead of the store's clock is refused (`floor`). */
  readonly floor?: number;
  /** Take a place in the line where it is busy. Only where the store's `wakeUp` is `push`. */
  readonly wait?: WaitPlace;
}

/** A place in the line for a lease. */
export interface WaitPlace {
  /** The process that waits: the name it listens under (`onWake`), with one liveness for all its waiters. */
  readonly process: string;
  /** The place that an earlier answer gave, kept through whatever the store has forgotten since. */
  readonly ticket?: number | undefined;
  /** How long an offer of the lease stands, in milliseconds, before it goes to somebody else. */
  readonly claimMs: number;
  /** With so many in the line already the answer is `busy`; 0 for any number. */
  readonly maxQueue: number;
}

/** The lease is ours. */
export interface Granted {
  readonly kind: 'granted';
  readonly fencingToken: number;
  /** What the store granted, in milliseconds from the moment it decided. */
  readonly ttlMs: number;
  /** The store's clock when it decided, in milliseconds since the epoch. */
  readonly serverTimeMs?: number;
}

/** Somebody else's. */
export interface Busy {
  readonly kind: 'busy';
  /** Until it runs out if nobody renews it; never more than the ttl that was granted. */
  readonly remainingMs: number;
  readonly fencingToken: number;
  readonly holder: string;
  readonly holderTag: string;
  readonly serverTimeMs?: number;
}

/** Busy, and we are in the line. Also the answer while the lease is offered to somebody else. */
export interface Queued extends Omit<Busy, 'kind'> {
  readonly kind: 'queued';
  /** The place: those with a lower one come first. */
  readonly ticket: number;
}

/** A process that still waits for a key. */
export interface AttendRequest {
  readonly key: string;
  /** The name under which it waits. */
  readonly process: string;
}

/** `forgotten`: the line does not know this process (any more); its waiters take their places again by asking with their tickets. */
export interface Attended {
  readonly kind: 'kept' | 'forgotten';
  /** Until the lease runs out if nobody renews it; 0 when it is free. */
  readonly remainingMs: number;
  /** The waiter of this process to whom the lease is offered, where the notice was lost. */
  readonly offered?: string | undefined;
}

/** One lease that is to live on. */
export interface RenewRequest {
  readonly key: string;
  readonly holderId: string;
  /** The fence is healed to this where it is missing or lower. */
  readonly fencingToken: number;
  readonly ttlMs: number;
}

/** `held`: confirmed, the lease lives for at least `ttlMs` from the request; `gone`: no lease under the key; `taken`: another's; `unknown`: could not be asked. */
export type RenewResult =
  | { readonly kind: 'held'; readonly serverTimeMs?: number }
  | { readonly kind: 'gone' }
  | { readonly kind: 'taken'; readonly fencingToken?: number }
  | { readonly kind: 'unknown'; readonly error: StoreError };

/** The lease to be given back. */
export interface ReleaseRequest {
  readonly key: string;
  readonly holderId: string;
  readonly fencingToken: number;
}

/** `not-held`: the lease had ended, or another holder has it; nothing was changed. */
export interface ReleaseResult {
  readonly kind: 'released' | 'not-held';
}

/** The acquisition to be undone. */
export interface LeaveRequest {
  readonly key: string;
  readonly holderId: string;
  readonly holderTag: string;
  /** As in the request that took the place in the line, where one did. */
  readonly wait?: WaitPlace | undefined;
}

/** What an operator may know of a key; the holder's secret id is not in it. */
export interface LeaseRecord {
  readonly key: string;
  readonly state: 'held' | 'reserved' | 'cooldown';
  readonly holder: string;
  readonly holderTag: string;
  readonly fencingToken: number;
  /** When it was acquired, in milliseconds since the epoch by the store's clock. */
  readonly since: number;
  /** Until it runs out if nobody renews it, by the store's clock. */
  readonly remainingMs: number;
  /** How many wait for it, where the store knows. */
  readonly waiters: number;
}

/**
 * `transient`: may work when tried again (timeouts, resets, a server that is loading or failing over). `fatal`: will not
 * (no permission, a wrong password, a syntax error). `foreign`: the key holds something that is not a lease. `floor`: the
 * token asked for lies so far ahead of the store's clock that it would poison the key.
 */
export type StoreErrorKind = 'transient' | 'fatal' | 'foreign' | 'floor';

/** What a store rejects with. Anything else that it rejects with counts as transient. */
export class StoreError extends Error {
  readonly kind: StoreErrorKind;
  /** Milliseconds after which a new try makes sense, where that is known. */
  readonly retryAfterMs?: number;
  /** The request did not leave, and will not: there is nothing to be taken back. */
  readonly notSent?: true;
  /** The lease was granted, and too few replicas have it: how many do, and how many were asked for. */
  readonly replicas?: { readonly confirmed: number; readonly required: number };

  constructor(kind: StoreErrorKind, message: string, options: StoreErrorOptions = {}) {
    const { cause, retryAfterMs, notSent, replicas } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
    this.kind = kind;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    if (notSent) this.notSent = notSent;
    if (replicas) this.replicas = replicas;
  }
}

/** What may be known of a failure besides its kind and its message. */
export interface StoreErrorOptions {
  readonly cause?: unknown;
  readonly retryAfterMs?: number | undefined;
  readonly notSent?: true | undefined;
  readonly replicas?: { readonly confirmed: number; readonly required: number } | undefined;
}
