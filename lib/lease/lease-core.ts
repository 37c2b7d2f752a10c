import { LeaseLostError, type LeaseLostReason } from '../errors/lease-lost.error.js';
import type { LeaseEvents } from '../events/lease-events.js';
import type { ReleaseResult, RenewResult, StoreError, WaitPlace } from '../stores/lease-store.js';
import type { Clock } from '../time/clock.js';
import { LossNotice } from './loss-notice.js';
import { momentOf, Validity, type Moment, type Stamp } from './validity.js';

/**
 * held ↔ jeopardy (a renewal went unanswered); held, jeopardy ↔ suspect (the machine may have been suspended); any → lost,
 * which is final; any but lost → released.
 */
export type LeaseState = 'held' | 'jeopardy' | 'suspect' | 'lost' | 'released';

/** What the core asks of the engine around it. */
export interface LeaseHost {
  readonly clock: Clock;
  readonly events: LeaseEvents;
  /** Asks the store about this lease now. */
  ask(core: LeaseCore): void;
  /** The lease will not be renewed any more: lost or released. */
  ended(core: LeaseCore): void;
}

/** A call of `renew()` that waits for the store's word. */
interface RenewWaiter {
  readonly ttlMs: number;
  readonly since: number;
  resolve(): void;
  reject(error: LeaseLostError): void;
}

/** How a lease is given back that is more than a lease. */
export interface GiveBack {
  release(): Promise<ReleaseResult>;
  /** Once more, in the background, after a release without an answer. */
  again(): Promise<unknown>;
}

export interface GrantedLease {
  readonly key: string;
  readonly holderId: string;
  readonly holderTag: string;
  readonly fencingToken: number;
  readonly ttlMs: number;
  readonly sent: Stamp;
  readonly maxHoldMs: number | undefined;
  /** Tries to acquire it that were never answered. */
  readonly uncertain?: Uncertain | undefined;
  /** Default: by `LeaseStore.release`. */
  readonly giveBack?: GiveBack | undefined;
}

/** Requests that may yet be carried out, and the place in the line that they may take. */
export interface Uncertain {
  readonly pending: Promise<unknown>;
  readonly wait: WaitPlace | undefined;
}

/** The state machine of one lease: the one object that owns both renewing and losing. */
export class LeaseCore {
  readonly key: string;
  readonly holderId: string;
  readonly holderTag: string;
  readonly fencingToken: number;
  readonly uncertain: Uncertain | undefined;
  /** How it is given back; may be changed as long as it is held. */
  giveBack: GiveBack | undefined;
  readonly notice = new LossNotice(this);
  /** The ttl that renewals ask for. */
  ttlMs: number;
  /** The longest that was granted: how long the key may live without us. */
  longestTtlMs: number;
  /** What the last confirmed request asked for: how little time there may be. */
  standingTtlMs: number;
  /** Renewals in a row that were not answered. */
  failures = 0;
  /** The release that was begun; kept by the releaser. */
  ending: Promise<boolean> | undefined;
  /** When the keep-alive looks at this lease next; kept by the keep-alive. */
  slot: number | undefined;

  private state: LeaseState = 'held';
  private lostError: LeaseLostError | undefined;
  private readonly validity: Validity;
  private readonly acquiredAt: number;
  private readonly endsAt: number;
  private waiters: RenewWaiter[] | undefined;

  constructor(
    granted: GrantedLease,
    private readonly host: LeaseHost,
  ) {
    this.key = granted.key;
    this.holderId = granted.holderId;
    this.holderTag = granted.holderTag;
    this.fencingToken = granted.fencingToken;
    this.uncertain = granted.uncertain;
    this.giveBack = granted.giveBack;
    this.ttlMs = granted.ttlMs;
    this.longestTtlMs = granted.ttlMs;
    this.standingTtlMs = granted.ttlMs;
    this.validity = new Validity(host.clock, granted.sent, granted.ttlMs);
    this.acquiredAt = granted.sent.mono;
    this.endsAt = granted.maxHoldMs === undefined ? Infinity : granted.sent.mono + granted.maxHoldMs;
  }

  get lost(): LeaseLostError | undefined {
    return this.lostError;
  }

  get ended(): boolean {
    return this.state === 'lost' || this.state === 'released';
  }

  /** The state by the clocks at this moment; every timer and every answer asks here before it acts. `now`: read for many at once. */
  check(now: Moment = momentOf(this.host.clock)): LeaseState {
    if (this.ended) return this.state;
    if (now.mono >= this.endsAt) return this.lose('max-hold');
    const verdict = this.validity.judge(now);
    if (verdict === 'expired') return this.lose(this.state === 'held' ? 'expired' : 'store');
    if (verdict === 'suspect' && this.state !== 'suspect') {
      this.state = 'suspect';
      this.host.ask(this);
    } else if (verdict === 'held' && this.state === 'suspect') {
      this.state = 'held';
    }
    return this.state;
  }

  remainingMs(): number {
    return this.check() === 'lost' || this.state === 'released' ? 0 : this.validity.remainingMs();
  }

  /** Until the soft deadline. */
  softInMs(mono = this.host.clock.monotonic()): number {
    return this.validity.softInMs(mono);
  }

  /** Until `maxHold` ends it. */
  endInMs(mono = this.host.clock.monotonic()): number {
    return this.endsAt - mono;
  }

  /** What the next renewal asks for: never less than somebody waits for. */
  requestTtlMs(): number {
    return this.waiters === undefined ? this.ttlMs : Math.max(this.ttlMs, ...this.waiters.map((waiter) => waiter.ttlMs));
  }

  heldMs(): number {
    return Math.round(this.host.clock.monotonic() - this.acquiredAt);
  }

  /** Resolves once the store has confirmed a renewal asked from now on for at least `ttlMs`. */
  confirmed(ttlMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiters ??= [];
      this.waiters.push({ ttlMs, since: this.host.clock.monotonic(), resolve, reject });
    });
  }

  /** An answer to a renewal, however late. */
  answered(result: RenewResult, sent: Stamp, ttlMs: number, now: Moment = momentOf(this.host.clock)): void {
    if (this.check(now) === 'lost' || this.state === 'released') return;
    if (result.kind === 'gone') this.lose('expired');
    else if (result.kind === 'taken') this.lose('taken');
    else if (result.kind === 'unknown') this.unanswered(result.error);
    else this.renewed(sent, ttlMs, now);
  }

  /** A renewal failed, or was not answered in time: no deadline moves. */
  unanswered(error: StoreError): void {
    if (this.check() === 'lost' || this.state === 'released') return;
    this.failures++;
    if (this.state !== 'suspect') this.state = 'jeopardy';
    if (this.failures > 1 || !this.host.events.has('jeopardy')) return;
    const { key, fencingToken } = this;
    this.host.events.emit({ type: 'jeopardy', key, fencingToken, remainingMs: this.validity.remainingMs(), error });
  }

  /** Final. Tells the signal, `lost` and everybody who waits for a renewal. */
  lose(reason: LeaseLostReason, cause?: unknown): LeaseState {
    if (this.ended) return this.state;
    this.state = 'lost';
    const { key, fencingToken } = this;
    const error = new LeaseLostError(key, reason, { fencingToken, ...(cause === undefined ? {} : { cause }) });
    this.lostError = error;
    this.end(() => error);
    this.notice.tell(error);
    if (this.host.events.has('lost')) this.host.events.emit({ type: 'lost', key, fencingToken, reason, heldMs: this.heldMs() });
    return 'lost';
  }

  /** The holder gives it back; renewals end here, whatever the store will say. */
  release(): void {
    if (this.ended) return;
    this.state = 'released';
    this.end(() => this.releasedError());
  }

  releasedError(): LeaseLostError {
    const detail = 'it has already been released';
    return new LeaseLostError(this.key, 'expired', { fencingToken: this.fencingToken, detail });
  }

  suspectError(): LeaseLostError {
    return new LeaseLostError(this.key, 'suspect', { fencingToken: this.fencingToken });
  }

  private renewed(sent: Stamp, ttlMs: number, now: Moment): void {
    this.validity.confirm(sent, ttlMs, now);
    this.longestTtlMs = Math.max(this.longestTtlMs, ttlMs);
    this.standingTtlMs = ttlMs;
    this.failures = 0;
    if (this.state === 'jeopardy') this.state = 'held';
    if (this.state !== 'held') this.check(now);
    if (this.waiters === undefined) return;
    const served = this.waiters.filter((waiter) => waiter.since <= sent.mono && waiter.ttlMs <= ttlMs);
    this.waiters = this.waiters.filter((waiter) => !served.includes(waiter));
    for (const waiter of served) waiter.resolve();
  }

  /** The error is made only where somebody is to be told: making one costs as much as all the rest of a release. */
  private end(error: () => LeaseLostError): void {
    const waiters = this.waiters;
    this.waiters = undefined;
    this.host.ended(this);
    for (const waiter of waiters ?? []) waiter.reject(error());
  }
}
