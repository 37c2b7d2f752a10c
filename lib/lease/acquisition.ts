import { LeaseBusyError } from '../errors/lease-busy.error.js';
import { StoreError, type AcquireRequest, type Busy, type Granted, type Queued, type WaitPlace } from '../stores/lease-store.js';
import { toStoreError } from '../stores/to-store-error.js';
import { backoffMs, jittered } from '../time/backoff.js';
import { holderTagOf, newHolderId } from './holder-id.js';
import type { EngineParts } from './engine-parts.js';
import type { ResolvedAcquireOptions } from './lease-options.js';
import { Lease } from './lease.js';
import { onAbort } from './on-abort.js';
import { minTokenError, refusalOf } from './refusal.js';
import { callLimitMs, settleWithin, withTimeLimit } from './time-limit.js';
import { Validity, type Stamp } from './validity.js';

/** A waiter looks again after this, at first and at most; sooner when the holder's time is over before. */
const FIRST_POLL_MS = 20;
const LAST_POLL_MS = 250;

type Outcome = Lease | Busy | Queued | StoreError;
/** Rejects when the caller's signal aborts. */
type Aborted = Promise<never> | undefined;

/** One call of `acquire`: its tries, its wait, and what is to be taken back when it gives up. */
export class Acquisition {
  private readonly startedAt: number;
  private readonly limitMs: number;
  private readonly request: AcquireRequest;
  /** Requests that were given up, or may be: each may yet be carried out. */
  private readonly uncertain = new Set<Promise<unknown>>();
  private ticket: number | undefined;
  /** The place taken, or asked for, in the line of the store. */
  private place: WaitPlace | undefined;
  private inLine = false;
  private undone = false;
  private shortfall: StoreError | undefined; // replicas missed a grant: that says more than the silence of a later try
  private full = false;
  private busyTries = 0;
  private failedTries = 0;

  constructor(
    private readonly engine: EngineParts,
    private readonly key: string,
    private readonly options: ResolvedAcquireOptions,
  ) {
    const holderId = newHolderId();
    const floor = engine.floors.of(key, options.minToken);
    this.startedAt = engine.clock.monotonic();
    this.limitMs = callLimitMs(options.ttlMs, engine.defaults.commandTimeoutMs);
    this.request = {
      key,
      holderId,
      holderTag: holderTagOf(holderId),
      holder: engine.holder,
      ttlMs: options.ttlMs,
      ...(floor === undefined ? {} : { floor }),
    };
  }

  /** One try. */
  async once(): Promise<Lease | Busy> {
    const interruptible = this.options.signal !== undefined;
    const outcome = await (interruptible
      ? this.interruptible((aborted) => this.attempt(this.limitMs, aborted))
      : this.attempt(this.limitMs, undefined));
    if (outcome instanceof StoreError) throw this.giveUp(outcome);
    return outcome as Lease | Busy;
  }

  /** One try of a call that may not wait, since too many do. */
  onceInFullLine(): Promise<Lease | Busy> {
    this.full = true;
    return this.once();
  }

  /** Tries until it is ours, the wait is over, or the signal aborts: in the store's line where it keeps one, else by looking again. */
  async wait(): Promise<Lease | Busy> {
    const inLine = this.engine.store.capabilities.wakeUp === 'push';
    return this.interruptible((aborted) => (inLine ? this.waitInLine(aborted) : this.poll(aborted)));
  }

  private async poll(aborted: Aborted): Promise<Lease | Busy> {
    for (;;) {
      const outcome = this.ended(await this.attempt(this.nextLimitMs(), aborted));
      if (outcome.end) return outcome.end;
      await this.unless(aborted, this.delayMs(outcome.goOn));
    }
  }

  private async waitInLine(aborted: Aborted): Promise<Lease | Busy> {
    const { waiters } = this.engine;
    if (!waiters.hears(this.key)) {
      // Most waits find the lease free; who must wait subscribes first, and then takes a place.
      const outcome = this.ended(await this.attempt(this.limitMs, aborted));
      if (outcome.end) return outcome.end;
      await this.unless(aborted, this.leftMs(), waiters.listen(this.key));
    }
    const { holderId } = this.request;
    const waiter = waiters.join(this.key, holderId);
    try {
      for (;;) {
        const outcome = this.ended(await this.attempt(this.nextLimitMs(), aborted, true));
        if (outcome.end) return outcome.end;
        const { goOn } = outcome;
        if (goOn instanceof StoreError) {
          await this.unless(aborted, this.delayMs(goOn), waiter.turn());
          continue;
        }
        waiters.busy(this.key, goOn.remainingMs);
        await this.unless(aborted, this.leftMs(), waiter.turn());
        if (this.leftMs() <= 0) return this.gaveUp(goOn);
      }
    } finally {
      waiters.leave(waiter);
    }
  }

  /** Whether an outcome ends the wait. */
  private ended(outcome: Outcome): { end: Lease | Busy } | { end?: never; goOn: Busy | Queued | StoreError } {
    if (outcome instanceof Lease) return { end: outcome };
    const fatal = outcome instanceof StoreError && outcome.kind !== 'transient';
    this.full = this.inLine && 'kind' in outcome && outcome.kind === 'busy';
    if (!fatal && !this.full && this.leftMs() > 0) return { goOn: outcome };
    if (outcome instanceof StoreError) throw this.giveUp(outcome);
    return { end: this.gaveUp(outcome) };
  }

  private gaveUp(outcome: Busy | Queued): Busy {
    if (!this.full) this.undo();
    return { ...outcome, kind: 'busy' };
  }

  waitedMs(): number {
    return Math.round(this.engine.clock.monotonic() - this.startedAt);
  }

  private leftMs(): number {
    return this.startedAt + this.options.waitMs - this.engine.clock.monotonic();
  }

  /** Later tries do not outlast the wait by more than 50 ms. */
  private nextLimitMs(): number {
    const first = this.busyTries + this.failedTries === 0;
    return first ? this.limitMs : Math.min(this.limitMs, Math.max(this.leftMs(), 50));
  }

  private delayMs(outcome: Busy | Queued | StoreError): number {
    if (outcome instanceof StoreError)
      return Math.min(this.leftMs(), (outcome.retryAfterMs ?? 0) + backoffMs(this.failedTries++, 50, 1000));
    const poll = backoffMs(this.busyTries++, FIRST_POLL_MS, LAST_POLL_MS);
    return Math.max(0, Math.min(this.leftMs(), poll, outcome.remainingMs + jittered(5)));
  }

  private async attempt(limitMs: number, aborted: Aborted, inLine = false): Promise<Outcome> {
    const { engine } = this;
    this.inLine = inLine;
    if (inLine) this.place = this.placeInLine();
    const request = inLine ? { ...this.request, wait: this.place } : this.request;
    const sent = engine.stamper.stamp();
    const call = engine.outside(() => engine.store.acquire(request));
    this.uncertain.add(call);
    try {
      const answer = withTimeLimit(engine.clock, limitMs, call, () => engine.store.unanswered?.());
      const reply = await (aborted ? Promise.race([answer, aborted]) : answer);
      this.uncertain.delete(call);
      if (reply.serverTimeMs !== undefined) engine.serverTime.saw(reply.serverTimeMs, sent.mono);
      engine.floors.saw(this.key, reply.fencingToken);
      if (reply.kind === 'queued') this.ticket = reply.ticket;
      return reply.kind === 'granted' ? this.granted(reply, sent) : reply;
    } catch (error) {
      if (this.options.signal?.aborted) throw this.options.signal.reason;
      const reason = toStoreError(error);
      if (reason.kind !== 'transient' || reason.notSent) this.uncertain.delete(call);
      if (reason.replicas) this.shortfall = reason;
      return reason;
    }
  }

  private placeInLine(): WaitPlace {
    const { process } = this.engine.waiters;
    const claimMs = Math.min(this.options.ttlMs, Math.max(1000, 2 * this.engine.defaults.commandTimeoutMs));
    return { process, ticket: this.ticket, claimMs, maxQueue: this.engine.maxQueue ?? 0 };
  }

  /** An answer that came when the lease was as good as over is no lease. */
  private granted(reply: Granted, sent: Stamp): Outcome {
    const { engine, request, options } = this;
    if (new Validity(engine.clock, sent, reply.ttlMs).judge() !== 'held') {
      this.uncertain.add(Promise.resolve());
      return new StoreError('transient', `the answer took most of the ttl of ${String(reply.ttlMs)} ms; a longer ttl leaves it time`);
    }
    const { key, holderId, holderTag } = request;
    const { fencingToken, ttlMs } = reply;
    const pending = this.pending();
    const uncertain = pending && { pending, wait: this.place };
    return engine.hold({ key, holderId, holderTag, fencingToken, ttlMs, sent, maxHoldMs: options.maxHoldMs, uncertain }, this.waitedMs());
  }

  private giveUp(error: StoreError): Error {
    const { key } = this;
    this.undo();
    if (error.kind === 'floor' && this.options.minToken !== undefined) return minTokenError(key, this.options.minToken, error);
    if (error.kind !== 'transient') return refusalOf(key, error, 'Nothing was run.');
    return refusalOf(key, this.shortfall ?? error, 'Nothing was run; try again.');
  }

  /** Takes back what a request without a timely answer may have left, or may yet leave, and the place in the line. */
  private undo(): void {
    const pending = this.pending();
    if (this.undone || (pending === undefined && this.place === undefined)) return;
    this.undone = true;
    const { key, holderId, holderTag, ttlMs } = this.request;
    this.engine.undoer.undo({ key, holderId, holderTag, wait: this.place, ttlMs, limitMs: this.limitMs, pending });
  }

  private pending(): Promise<unknown> | undefined {
    return this.uncertain.size === 0 ? undefined : Promise.allSettled(this.uncertain);
  }

  /** Runs `fn` with a promise that rejects when the caller's signal aborts; what is under way then is taken back. */
  private async interruptible<T>(fn: (aborted: Aborted) => Promise<T>): Promise<T> {
    const { signal } = this.options;
    if (signal === undefined) return fn(undefined);
    signal.throwIfAborted();
    let stop = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      stop = onAbort(signal, () => reject(signal.reason as Error));
    });
    aborted.catch(() => undefined);
    try {
      return await fn(aborted);
    } catch (error) {
      if (signal.aborted && error === signal.reason) this.undo();
      throw error;
    } finally {
      stop();
    }
  }

  /** Resolves with `event`, or after `ms` at the latest; rejects when the caller's signal aborts. */
  private unless(aborted: Aborted, ms: number, event?: Promise<void>): Promise<void> {
    const events = [event, aborted].filter((one) => one !== undefined);
    return settleWithin(this.engine.clock, Math.max(0, ms), events);
  }

  /** What a caller is told who may not wait any longer. */
  busyError(busy: Busy): LeaseBusyError {
    const { remainingMs, holder, holderTag, fencingToken } = busy;
    const detail = this.full ? 'as many calls as maxQueue allows already wait for it' : undefined;
    return new LeaseBusyError(this.key, { retryAfterMs: Math.max(1, Math.ceil(remainingMs)), holder, holderTag, fencingToken, detail });
  }
}
