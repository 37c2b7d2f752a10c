import type { GrantedInstant, InstantOutcome, InstantRequest, ScheduledRunsPort } from '../lease/scheduled-instant.js';
import type { ClockTimer } from '../time/clock.js';
import type { JobDefinition } from './job-definition.js';
import { OutcomeTeller } from './tell-outcome.js';

/** Started or not; `pending`: not yet known; `gone`: taken away for good. */
export type Activity = boolean | 'pending' | 'gone';

/** What a runner asks of what is around it. */
export interface JobRunnerParts {
  readonly job: JobDefinition;
  readonly port: ScheduledRunsPort;
  /** Runs an instant that was granted; never rejects. */
  readonly run: (granted: GrantedInstant, instant: number) => Promise<void>;
  readonly active: () => Activity;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A long wait ends so much of it too early, and the store is asked for the time: timers and clocks of two machines drift apart. */
const DRIFT = 0.001;
/** A holder's lease is looked at again a little after its end. */
const MARGIN_MS = 20;

/**
 * Wakes up for the instants of one job and asks the store, whose clock decides. A wake-up is only that: it asks for the newest
 * instant that is not later than the store's time, however early or late it came, and the next one is set by the store's time.
 */
export class JobRunner {
  private readonly teller: OutcomeTeller;
  private timer: ClockTimer | undefined;
  private lookTimer: ClockTimer | undefined;
  private turning: Promise<void> | undefined;
  /** The newest instant that is decided as far as this replica is concerned. */
  private settled = -Infinity;
  private openedAt: number | undefined;
  private pendingTurns = 0;
  /** The store's time when we came up: earlier instants came without us. */
  private upSince: number | undefined;
  private sync = false;
  private closed = false;

  constructor(private readonly parts: JobRunnerParts) {
    this.teller = new OutcomeTeller(parts.job, parts.port.events);
  }

  /** Runs the job until `close`, and its first look now. */
  open(): void {
    void this.parts.port.outside(() => this.wake());
  }

  /** Takes no further instant; what runs goes on. */
  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.lookTimer?.cancel();
  }

  /** Something woke us: looks whether an instant is due. Never rejects. */
  wake(): Promise<void> {
    this.turning ??= this.turn().finally(() => (this.turning = undefined));
    return this.turning;
  }

  private async turn(): Promise<void> {
    for (;;) {
      if (this.over()) return;
      const state = this.parts.active();
      if (state === 'pending') {
        this.set(Math.min(1000, 10 * 2 ** this.pendingTurns++));
        return;
      }
      this.openedAt ??= this.parts.port.clock.monotonic();
      const active = state === true;
      if (active && !(await this.knowsTime())) continue;
      const { schedule } = this.parts.job;
      const instant = schedule.newestNotAfter(this.now());
      if (!active) this.settle(instant);
      if (instant === undefined || instant <= this.settled) {
        this.arm(schedule.nextAfter(this.now()));
        return;
      }
      const outcome = await this.begin(instant);
      if (outcome.kind === 'stopped') return;
      if (outcome.kind === 'early') {
        this.set(outcome.inMs);
        return;
      }
    }
  }

  private async begin(instant: number): Promise<InstantOutcome> {
    const outcome = await this.parts.port.begin(this.request(instant, this.purposeOf(instant)));
    if (outcome.kind !== 'early' && outcome.kind !== 'stopped') this.settle(instant);
    this.take(instant, outcome, false);
    return outcome;
  }

  private take(instant: number, outcome: InstantOutcome, again: boolean): void {
    this.teller.tell(instant, outcome, again);
    if (outcome.kind === 'granted') void this.parts.run(outcome, instant);
    if (outcome.kind === 'running') this.lookAgain(instant, outcome.remainingMs);
  }

  private settle(instant: number | undefined): void {
    if (instant !== undefined) this.settled = Math.max(this.settled, instant);
  }

  /** Nobody may be there to say how it ended, or it never began: then it is run again, where that is wanted and nothing newer has come. */
  private lookAgain(instant: number, inMs: number): void {
    this.lookTimer?.cancel();
    this.lookTimer = this.after(inMs + MARGIN_MS, async () => {
      const { schedule } = this.parts.job;
      if (this.over() || this.parts.active() !== true || schedule.newestNotAfter(this.now()) !== instant) return;
      this.take(instant, await this.parts.port.begin(this.request(instant, 'look')), true);
    });
  }

  private purposeOf(instant: number): InstantRequest['purpose'] {
    const { makeUp, misfireWindowMs, lateMs } = this.parts.job;
    const late = this.now() - instant;
    this.upSince ??= this.now() - (this.parts.port.clock.monotonic() - (this.openedAt ?? 0));
    if (instant > this.upSince && late <= lateMs) return 'due';
    return makeUp && late <= misfireWindowMs ? 'make-up' : 'look';
  }

  private request(instant: number, purpose: InstantRequest['purpose']): InstantRequest {
    const { key, schedule, lifeMs, rerun, maxHoldMs, atLeastForMs, misfireWindowMs, ttlMs = this.parts.port.ttlMs } = this.parts.job;
    const now = this.now();
    const next = schedule.nextAfter(now);
    const patienceMs = next === undefined ? misfireWindowMs : next - now;
    return { key, instant, schedule: schedule.description, lifeMs, purpose, rerun, ttlMs, maxHoldMs, atLeastForMs, patienceMs };
  }

  private now(): number {
    return this.parts.port.now() ?? this.parts.port.clock.wall();
  }

  /** Our own clock may be an hour off, so nothing is asked for before the store has told its time; an instant that passes meanwhile is told as unavailable. */
  private async knowsTime(): Promise<boolean> {
    const { port, job } = this.parts;
    if (port.now() !== undefined && !this.sync) return true;
    const before = port.now();
    this.sync = false;
    const instant = job.schedule.nextAfter(this.now());
    for (;;) {
      try {
        await port.ask(job.key);
        return true;
      } catch (error) {
        if (before !== undefined || this.over()) return true;
        const now = port.clock.wall();
        if (instant !== undefined && now >= instant) {
          this.teller.tell(instant, { kind: 'unavailable', error: error as never });
          return false;
        }
        await this.sleep(instant === undefined ? 1000 : Math.min(1000, instant - now));
      }
    }
  }

  private over(): boolean {
    if (this.parts.active() === 'gone') this.close();
    return this.closed || this.parts.port.stopping;
  }

  /** The next instant, by the store's time; nothing for a job whose single instant has passed. */
  private arm(next: number | undefined): void {
    if (next !== undefined) this.set(next - this.now());
  }

  private set(waitMs: number): void {
    this.timer?.cancel();
    this.sync = waitMs > MINUTE_MS;
    this.timer = this.after(this.sync ? Math.min(waitMs * (1 - DRIFT), HOUR_MS) : waitMs, () => this.wake());
  }

  private after(ms: number, fn: () => Promise<void>): ClockTimer | undefined {
    if (this.closed) return undefined;
    return this.parts.port.outside(() => this.parts.port.clock.setTimer(() => void fn(), Math.max(1, Math.ceil(ms))));
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.parts.port.clock.setTimer(resolve, Math.max(1, ms)));
  }
}
