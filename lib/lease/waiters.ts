import type { Attended, LeaseStore, StoreSubscription, Wake } from '../stores/lease-store.js';
import type { Clock, ClockTimer } from '../time/clock.js';
import { newHolderId } from './holder-id.js';
import { settleWithin, withTimeLimit } from './time-limit.js';

/** How often a process says that it still waits; the store passes over who has been silent for 10 s. */
const ATTEND_EVERY_MS = 3000;
/** The same while no notices arrive, so that an offer is not overlooked for long. */
const LOOK_EVERY_MS = 250;
/** Who finds the lease busy takes a place in the line after this, even if no notices arrive yet. */
const LISTEN_LIMIT_MS = 1000;
/** How often the subscription is asked whether it still works, and how soon when a notice is missing. */
const CHECK_EVERY_MS = 15_000;
const CHECK_SOON_MS = 5000;
/** The head of a line looks this much after the holder's time at most, apart from the heads of other processes. */
const POLL_SPREAD_MS = 50;

/** What the waiters of a process need of the engine. */
export interface WaitersParts {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly defaults: { readonly commandTimeoutMs: number };
  outside<T>(call: () => T): T;
}

/** One call of this process that waits in a line. */
export class Waiter {
  private woken = false;
  private resolve: (() => void) | undefined;

  constructor(
    readonly key: string,
    readonly holderId: string,
  ) {}

  /** Resolves when there is a reason to ask the store again: also when it came before. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.resolve = resolve;
      if (this.woken) this.wake();
    });
  }

  wake(): void {
    this.woken = this.resolve === undefined;
    this.resolve?.();
    this.resolve = undefined;
  }
}

/** The waiters of one key in this process, in the order in which they came; only the first looks by itself. */
interface Line {
  readonly waiters: Set<Waiter>;
  poll: ClockTimer | undefined;
}

/**
 * The calls of one process that wait in lines which the store keeps. The store tells whose turn it is, over one subscription for
 * all; against lost notices the first of each line looks when the holder's time is over, and one request every 3 s says for all
 * that they are still there. So a thousand waiters put no more load on the store than one.
 */
export class Waiters {
  /** The name under which this process waits and is told. */
  readonly process = newHolderId();
  private readonly lines = new Map<string, Line>();
  private readonly byHolder = new Map<string, Waiter>();
  private subscription: StoreSubscription | undefined;
  private attendance: ClockTimer | undefined;
  private isListening = false;
  private checkedAt = 0;

  constructor(private readonly parts: WaitersParts) {}

  /** True once notices of this key arrive, or were waited for long enough: a place in its line may be taken. */
  hears(key: string): boolean {
    return this.isListening && (this.subscription?.follow === undefined || this.lines.has(key));
  }

  /**
   * Subscribe first, then enqueue: otherwise a notice could come before anybody hears it. A subscription that does not come about
   * keeps nobody from waiting: until it does they look.
   */
  async listen(key: string): Promise<void> {
    const { store, clock } = this.parts;
    if (this.subscription === undefined) this.checkedAt = clock.monotonic();
    this.subscription ??= this.parts.outside(() => store.onWake(this.process, (wake) => this.told(wake)));
    const { subscription } = this;
    await settleWithin(clock, LISTEN_LIMIT_MS, [subscription.ready.then(() => subscription.follow?.(key))]);
    this.isListening = true;
    // Unless the caller takes a place now, after all.
    if (!this.lines.has(key)) subscription.unfollow?.(key);
  }

  /** Before the request is sent: its turn may come before its answer. */
  join(key: string, holderId: string): Waiter {
    const waiter = new Waiter(key, holderId);
    const line = this.lines.get(key) ?? { waiters: new Set(), poll: undefined };
    this.lines.set(key, line);
    void this.subscription?.follow?.(key);
    line.waiters.add(waiter);
    this.byHolder.set(holderId, waiter);
    this.attendance ??= this.arm();
    return waiter;
  }

  leave(waiter: Waiter): void {
    this.byHolder.delete(waiter.holderId);
    const line = this.lines.get(waiter.key);
    line?.waiters.delete(waiter);
    if (line === undefined || line.waiters.size > 0) return;
    line.poll?.cancel();
    this.lines.delete(waiter.key);
    this.subscription?.unfollow?.(waiter.key);
    if (this.lines.size > 0) return;
    this.attendance?.cancel();
    this.attendance = undefined;
  }

  /** The store has said how long the lease may be busy: then the first of the line looks. */
  busy(key: string, remainingMs: number): void {
    const line = this.lines.get(key);
    if (line === undefined) return;
    line.poll?.cancel();
    const delay = Math.max(1, remainingMs) + Math.random() * POLL_SPREAD_MS;
    line.poll = this.parts.outside(() => this.parts.clock.setTimer(() => this.first(line)?.wake(), delay));
  }

  close(): void {
    this.subscription?.unsubscribe();
    this.attendance?.cancel();
    for (const line of this.lines.values()) line.poll?.cancel();
  }

  private told(wake: Wake): void {
    if (wake.kind === 'offer') this.byHolder.get(wake.holderId)?.wake();
    else for (const waiter of this.waitersOf(wake.key)) waiter.wake();
  }

  private waitersOf(key: string | undefined): Iterable<Waiter> {
    return key === undefined ? this.byHolder.values() : (this.lines.get(key)?.waiters ?? []);
  }

  /** An offer that the store tells of: mostly its notice is lost. */
  private overlooked(holderId: string): void {
    const waiter = this.byHolder.get(holderId);
    if (waiter === undefined) return;
    waiter.wake();
    this.check(CHECK_SOON_MS);
  }

  private check(everyMs: number): void {
    const now = this.parts.clock.monotonic();
    if (now - this.checkedAt < everyMs) return;
    this.checkedAt = now;
    this.subscription?.check?.();
  }

  private first(line: Line): Waiter | undefined {
    return line.waiters.values().next().value;
  }

  private arm(): ClockTimer {
    const every = this.subscription?.live === false ? LOOK_EVERY_MS : ATTEND_EVERY_MS;
    return this.parts.outside(() => this.parts.clock.setTimer(() => void this.attend(), every));
  }

  private async attend(): Promise<void> {
    const { process } = this;
    const { store, clock, defaults } = this.parts;
    const keys = [...this.lines.keys()];
    this.attendance = this.arm();
    this.check(CHECK_EVERY_MS);
    try {
      const call = store.attend(keys.map((key) => ({ key, process })));
      // Without a limit a half-open connection would go unnoticed while everybody just waits.
      const answers = await withTimeLimit(clock, Math.min(defaults.commandTimeoutMs, ATTEND_EVERY_MS), call, () => store.unanswered?.());
      keys.forEach((key, i) => this.attended(key, answers[i]));
    } catch {
      // The next word is due soon; who was passed over meanwhile is told by it.
    }
  }

  private attended(key: string, answer: Attended | undefined): void {
    const line = this.lines.get(key);
    if (line === undefined || answer === undefined) return;
    if (answer.kind === 'forgotten') for (const waiter of line.waiters) waiter.wake();
    else if (answer.offered !== undefined) this.overlooked(answer.offered);
    else if (answer.remainingMs === 0) this.first(line)?.wake();
    else this.busy(key, answer.remainingMs);
  }
}
