import { AsyncResource } from 'node:async_hooks';
import type { LeaseEvents } from '../events/lease-events.js';
import type { LeaseStore, RenewResult, StoreError } from '../stores/lease-store.js';
import { backoffMs } from '../time/backoff.js';
import type { Clock, ClockTimer } from '../time/clock.js';
import type { LeaseCore } from './lease-core.js';
import { RenewalBatch } from './renewal-batch.js';
import { callLimitMs } from './time-limit.js';
import { momentOf, type Stamper } from './validity.js';

/** Leases in one round trip; a batch of short leases is smaller, so that its answer comes sooner. */
const MOST_IN_BATCH = 700;
const MOST_SHORT_IN_BATCH = 250;
const SHORT_TTL_MS = 2000;
const LONGEST_INTERVAL_MS = 30_000;

export interface KeepAliveOptions {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly stamper: Stamper;
  readonly events: LeaseEvents;
  readonly commandTimeoutMs: number;
  readonly onAnswer: (serverTimeMs: number, sentMono: number) => void;
}

/**
 * Renews all leases of one service: one timer, and one round trip for all that fall due together. Due times lie on a grid of
 * an eighth of the renewal interval, rounded down, so that leases taken at different times still travel together; what is more
 * than a batch then is spread over the time to the next line of the grid, so that thousands do not block the event loop at once.
 */
export class KeepAlive {
  private readonly slots = new Map<number, Set<LeaseCore>>();
  private timer: ClockTimer | undefined;
  private timerAt = Infinity;
  private asked: Set<LeaseCore> | undefined;
  private closed = false;
  /** Of batches that are due, and leave a little later than the first. */
  private readonly batchTimers = new Set<ClockTimer>();
  /** Renewals live longer than the call that took the lease: they must not keep its async context alive. */
  private readonly outside = new AsyncResource('LeaseKeepAlive');

  constructor(private readonly options: KeepAliveOptions) {}

  /** Looks after a lease from now on. */
  add(core: LeaseCore): void {
    this.schedule(core, this.nextRenewal(core));
  }

  /** Forgets a lease. */
  remove(core: LeaseCore): void {
    this.unschedule(core);
    this.asked?.delete(core);
  }

  /** Renews a lease now, together with all others asked for in this turn of the event loop. */
  ask(core: LeaseCore): void {
    if (this.asked) {
      this.asked.add(core);
      return;
    }
    this.asked = new Set([core]);
    queueMicrotask(() => {
      const cores = [...(this.asked ?? [])];
      this.asked = undefined;
      this.outside.runInAsyncScope(() => this.renew(cores));
    });
  }

  close(): void {
    this.closed = true;
    this.timer?.cancel();
    for (const timer of this.batchTimers) timer.cancel();
    this.slots.clear();
    this.asked = undefined;
  }

  private nextRenewal(core: LeaseCore, now = this.options.clock.monotonic()): number {
    const interval = intervalMs(core.ttlMs);
    const grid = gridMs(core.ttlMs);
    // A slow answer has eaten from the time to the soft deadline; the end of maxHold is met exactly.
    const soon = Math.min(interval, Math.max(0, core.softInMs(now) / 2), Math.max(0, core.endInMs(now)));
    return soon < interval ? Math.ceil(now + soon) : Math.floor((now + soon) / grid) * grid;
  }

  private unschedule(core: LeaseCore): void {
    if (core.slot !== undefined) this.slots.get(core.slot)?.delete(core);
    core.slot = undefined;
  }

  private schedule(core: LeaseCore, at: number): void {
    if (this.closed || core.ended) return;
    this.unschedule(core);
    core.slot = at;
    const set = this.slots.get(at);
    if (set) set.add(core);
    else this.slots.set(at, new Set([core]));
    if (at < this.timerAt) this.arm(at);
  }

  private arm(at: number): void {
    this.timer?.cancel();
    this.timerAt = at;
    const delay = Math.max(0, at - this.options.clock.monotonic());
    this.timer = this.outside.runInAsyncScope(() => this.options.clock.setTimer(() => this.tick(), delay));
  }

  private tick(): void {
    this.timerAt = Infinity;
    const now = this.options.clock.monotonic();
    const due: LeaseCore[] = [];
    let late = 0;
    for (const [at, cores] of this.slots) {
      if (at > now) continue;
      this.slots.delete(at);
      if (cores.size > 0) late = Math.max(late, now - at);
      for (const core of cores) {
        core.slot = undefined;
        due.push(core);
      }
    }
    this.tellStall(late, due);
    this.spread(due);
    this.rearm();
  }

  /** The first batch leaves now, the others with a pause before each. They are not put off any further, however busy the loop is. */
  private spread(due: LeaseCore[]): void {
    const size = batchSize(due);
    const batches = Math.ceil(due.length / size);
    this.renew(due.slice(0, size));
    if (batches < 2) return;
    const pauseMs = due.reduce((least, core) => Math.min(least, gridMs(core.ttlMs)), Infinity) / batches;
    for (let i = 1; i < batches; i++) {
      const timer = this.options.clock.setTimer(() => {
        this.batchTimers.delete(timer);
        this.renew(due.slice(i * size, (i + 1) * size));
      }, i * pauseMs);
      this.batchTimers.add(timer);
    }
  }

  private rearm(): void {
    let next = Infinity;
    for (const [at, cores] of this.slots) {
      if (cores.size === 0) this.slots.delete(at);
      else next = Math.min(next, at);
    }
    if (next < this.timerAt) this.arm(next);
  }

  private renew(cores: LeaseCore[]): void {
    // After a blocked event loop this runs before anything else that could tell: the clock decides first.
    const now = momentOf(this.options.clock);
    const alive = cores.filter((core) => !core.ended && core.check(now) !== 'lost');
    if (this.asked) for (const core of alive) this.asked.delete(core);
    const size = batchSize(alive);
    for (let i = 0; i < alive.length; i += size) this.send(alive.slice(i, i + size));
  }

  private send(cores: LeaseCore[]): void {
    const { store, clock, stamper, commandTimeoutMs } = this.options;
    const sent = stamper.stamp();
    const batch = new RenewalBatch(cores, sent);
    const giveUp = (core: LeaseCore): number => {
      // A longer ttl that is only asked for yet gives no time to wait for the answer.
      const limit = callLimitMs(Math.min(core.ttlMs, core.standingTtlMs), commandTimeoutMs);
      const soft = Math.max(0, core.softInMs(sent.mono));
      return soft < limit ? Math.ceil(soft) : limit;
    };
    batch.limit(clock, giveUp, (late, error) => {
      store.unanswered?.();
      for (const core of late) this.failed(core, error);
    });
    store.renew(batch.requests).then(
      (results) => this.answered(batch, results),
      (error: unknown) => batch.fail(error, (core, reason) => this.failed(core, reason)),
    );
  }

  private answered(batch: RenewalBatch, results: RenewResult[]): void {
    batch.finish();
    const serverTimeMs = results.find((result) => result.kind === 'held' && result.serverTimeMs !== undefined);
    if (serverTimeMs?.kind === 'held') this.options.onAnswer(serverTimeMs.serverTimeMs as number, batch.sent.mono);
    const now = momentOf(this.options.clock);
    batch.each(results, (core, result, ttlMs) => {
      if (core.ended) return;
      core.answered(result, batch.sent, ttlMs, now);
      if (result.kind === 'unknown') this.retry(core);
      else this.schedule(core, this.nextRenewal(core, now.mono));
    });
  }

  private failed(core: LeaseCore, error: StoreError): void {
    if (core.ended) return;
    core.unanswered(error);
    this.retry(core);
  }

  /** Until the soft deadline, where the check of the next tick ends it. */
  private retry(core: LeaseCore): void {
    if (core.ended) return;
    const most = Math.min(Math.max(core.ttlMs / 40, 10), 1000);
    const delay = Math.min(most, backoffMs(Math.max(0, core.failures - 1), Math.min(most, 50), most));
    const wait = Math.max(0, Math.min(delay, core.softInMs(), core.endInMs()));
    this.schedule(core, Math.ceil(this.options.clock.monotonic() + wait));
  }

  private tellStall(late: number, due: LeaseCore[]): void {
    const { events } = this.options;
    if (due.length === 0 || !events.has('stalled')) return;
    const ttlMs = due.reduce((least, core) => Math.min(least, core.ttlMs), Infinity);
    if (late < Math.max(ttlMs / 6, 20)) return;
    const stalledMs = Math.round(late);
    // A stall of a quarter of the ttl still leaves a renewal its time before the soft deadline.
    events.emit({ type: 'stalled', stalledMs, ttlMs, safeTtlMs: stalledMs * 4 });
  }
}

function batchSize(cores: readonly LeaseCore[]): number {
  return cores.some((core) => core.ttlMs < SHORT_TTL_MS) ? MOST_SHORT_IN_BATCH : MOST_IN_BATCH;
}

function intervalMs(ttlMs: number): number {
  return Math.min(ttlMs / 4, LONGEST_INTERVAL_MS);
}

/** Distance of the lines on which due times lie. */
function gridMs(ttlMs: number): number {
  return Math.max(1, Math.floor(intervalMs(ttlMs) / 8));
}
