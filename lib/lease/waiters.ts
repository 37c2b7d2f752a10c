import type { Attended, LeaseStore, StoreSubscription, Wake } from '../stores/lease-store.js';
import type { Clock, ClockTimer } from '../time/clock.js';
import { newHolderId } from './holder-id.js';

/** How often a process says that it still waits; the store passes over who has been silent for 10 s. */
const ATTEND_EVERY_MS = 3000;
/** The head of a line looks this much after the holder's time at most, apart from the heads of other processes. */
const POLL_SPREAD_MS = 50;

/** What the waiters of a process need of the engine. */
export interface WaitersParts {
  readonly store: LeaseStore;
  readonly clock: Clock;
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

  constructor(private readonly parts: WaitersParts) {}

  /** True once notices arrive, so that a place in the line may be taken. */
  get listening(): boolean {
    return this.isListening;
  }

  /** Subscribe first, then enqueue: otherwise a notice could come before anybody hears it. */
  async listen(): Promise<void> {
    this.subscription ??= this.parts.outside(() => this.parts.store.onWake(this.process, (wake) => this.told(wake)));
    await this.subscription.ready;
    this.isListening = true;
  }

  /** Before the request is sent: its turn may come before its answer. */
  join(key: string, holderId: string): Waiter {
    const waiter = new Waiter(key, holderId);
    const line = this.lines.get(key) ?? { waiters: new Set(), poll: undefined };
    this.lines.set(key, line);
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
    else for (const waiter of this.byHolder.values()) waiter.wake();
  }

  private first(line: Line): Waiter | undefined {
    return line.waiters.values().next().value;
  }

  private arm(): ClockTimer {
    return this.parts.outside(() => this.parts.clock.setTimer(() => void this.attend(), ATTEND_EVERY_MS));
  }

  private async attend(): Promise<void> {
    const { process } = this;
    const keys = [...this.lines.keys()];
    this.attendance = this.arm();
    try {
      const answers = await this.parts.store.attend(keys.map((key) => ({ key, process })));
      keys.forEach((key, i) => this.attended(key, answers[i]));
    } catch {
      // The next word is due soon; who was passed over meanwhile is told by it.
    }
  }

  private attended(key: string, answer: Attended | undefined): void {
    const line = this.lines.get(key);
    if (line === undefined || answer === undefined) return;
    if (answer.kind === 'forgotten') for (const waiter of line.waiters) waiter.wake();
    else if (answer.offered !== undefined) this.byHolder.get(answer.offered)?.wake();
    else if (answer.remainingMs === 0) this.first(line)?.wake();
    else this.busy(key, answer.remainingMs);
  }
}
