import { LeaseEvents } from '../../../lib/events/lease-events.js';
import type { LeaseEvent, LeaseEventType } from '../../../lib/events/lease-event.js';
import { ClientContext } from '../../../lib/execution/client-context.js';
import { LeaseContext } from '../../../lib/execution/lease-context.js';
import type { JobDefinition } from '../../../lib/cron/job-definition.js';
import { runInstant } from '../../../lib/cron/job-run.js';
import { JobRunner } from '../../../lib/cron/job-runner.js';
import { resolveModuleOptions } from '../../../lib/lease-module-options-check.js';
import { createLeaseRuntime, type LeaseRuntime } from '../../../lib/lease-runtime.js';
import type { BeginReply, InstantStore } from '../../../lib/stores/instant-store.js';
import type { LeaseStore } from '../../../lib/stores/lease-store.js';
import { MemoryLeaseStore } from '../../../lib/stores/memory/memory-lease-store.js';
import { ManualClock } from '../../../lib/testing/manual-clock.js';
import type { Clock, ClockTimer } from '../../../lib/time/clock.js';

/** The same numbers for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface ReplicaConditions {
  /** Its wall clock less the store's, in ms. */
  readonly skewMs?: number;
  /** Its clocks run so much faster: 0.001 is one millisecond in a second. */
  readonly drift?: number;
  /** Its timers fire so much too late, at most. */
  readonly lateMs?: number;
  /** Delay of a request and of a reply, at most, each. */
  readonly delayMs?: number;
  /** How often a request, or its reply, gets lost. */
  readonly loss?: number;
}

/** The clock of one machine, made of that of the store; it can stand still, and it can be dead. */
class MachineClock implements Clock {
  private held: (() => void)[] | undefined;
  dead = false;

  constructor(
    private readonly base: ManualClock,
    private readonly conditions: ReplicaConditions,
    private readonly random: () => number,
  ) {}

  monotonic(): number {
    return this.base.monotonic() * (1 + (this.conditions.drift ?? 0));
  }

  wall(): number {
    return this.base.wall() + (this.conditions.skewMs ?? 0);
  }

  suspended(): undefined {
    return undefined;
  }

  setTimer(fn: () => void, ms: number): ClockTimer {
    let cancelled = false;
    const fire = (): void => {
      if (this.dead || cancelled) return;
      if (this.held) this.held.push(fire);
      else fn();
    };
    const late = (this.conditions.lateMs ?? 0) * this.random();
    const timer = this.base.setTimer(fire, ms / (1 + (this.conditions.drift ?? 0)) + late);
    return {
      cancel: () => {
        cancelled = true;
        timer.cancel();
      },
    };
  }

  freeze(): void {
    this.held ??= [];
  }

  thaw(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const fire of held) fire();
  }
}

/** One body that was run. */
export interface Run {
  readonly replica: string;
  readonly instant: number;
  readonly token: number;
  readonly began: number;
  ended: number | undefined;
}

/** Replicas of one job, one store, and all that happens. */
export class Fleet {
  readonly clock: ManualClock;
  readonly store: MemoryLeaseStore;
  readonly runs: Run[] = [];
  readonly events: LeaseEvent[] = [];
  /** How the store has decided, by instant; each holder's grant once. */
  readonly grants = new Map<number, Set<string>>();
  readonly missed = new Map<number, number>();
  readonly replicas: SimulatedReplica[] = [];
  /** Bodies at work now, and the most there ever were. */
  atWork = 0;
  mostAtWork = 0;
  readonly random: () => number;

  constructor(
    readonly job: JobDefinition,
    readonly options: { readonly seed?: number; readonly start?: number; readonly durationMs?: (random: () => number) => number } = {},
  ) {
    this.random = randomOf(options.seed ?? 1);
    this.clock = new ManualClock({ wall: options.start ?? Date.UTC(2026, 2, 10, 12, 0, 0, 300) });
    this.store = new MemoryLeaseStore({ clock: this.clock });
  }

  add(conditions: ReplicaConditions = {}): SimulatedReplica {
    const replica = new SimulatedReplica(`r${String(this.replicas.length)}`, this, conditions);
    this.replicas.push(replica);
    return replica;
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advanceAsync(ms);
  }

  /** Instants of the bodies that began, in order. */
  get ran(): number[] {
    return this.runs.map(({ instant }) => instant);
  }

  of(type: LeaseEventType): LeaseEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  decided(instant: number, holderId: string, reply: BeginReply): void {
    if (reply.kind === 'granted') this.grants.set(instant, (this.grants.get(instant) ?? new Set()).add(holderId));
    if (reply.kind === 'missed') this.missed.set(instant, (this.missed.get(instant) ?? 0) + 1);
  }
}

/** One process of the fleet. */
export class SimulatedReplica {
  readonly clock: MachineClock;
  readonly runtime: LeaseRuntime;
  readonly runner: JobRunner;
  private down = false;

  constructor(
    readonly name: string,
    private readonly fleet: Fleet,
    private readonly conditions: ReplicaConditions,
  ) {
    this.clock = new MachineClock(fleet.clock, conditions, fleet.random);
    const store = this.overTheWire();
    const events = new LeaseEvents();
    for (const type of ['skipped', 'run-failed', 'instant-missed', 'instant-unavailable', 'schedule-mismatch', 'lost'] as const) {
      events.on(type, (event) => fleet.events.push(event));
    }
    const parts = { store, clock: this.clock, events, context: new LeaseContext(), client: new ClientContext() };
    this.runtime = createLeaseRuntime({ ...parts, options: resolveModuleOptions({ store, holder: name, ttl: 30 }) });
    const { scheduledRuns: port, executor } = this.runtime;
    const { job } = fleet;
    this.runner = new JobRunner({
      ...{ job, port, active: () => !this.down },
      run: (granted, instant) => {
        const body = { site: 'Jobs.run', run: () => this.work(instant, granted.fencingToken) };
        return runInstant(job, body, granted, executor, port, instant);
      },
    });
    this.runner.open();
  }

  /** kill -9: nothing of it goes on, and its lease stays. */
  kill(): void {
    this.clock.dead = true;
    for (const run of this.fleet.runs) {
      if (run.replica === this.name && run.ended === undefined) {
        run.ended = NaN;
        this.fleet.atWork--;
      }
    }
  }

  freeze(): void {
    this.clock.freeze();
  }

  thaw(): void {
    this.clock.thaw();
  }

  /** The store cannot be reached, or its replies do not come back. */
  cut(down: boolean | 'replies'): void {
    this.cutOff = down;
  }
  private cutOff: boolean | 'replies' = false;

  private async work(instant: number, token: number): Promise<void> {
    const { fleet } = this;
    const run: Run = { replica: this.name, instant, token, began: fleet.clock.wall(), ended: undefined };
    fleet.runs.push(run);
    fleet.mostAtWork = Math.max(fleet.mostAtWork, ++fleet.atWork);
    await new Promise<void>((resolve) => void this.clock.setTimer(resolve, fleet.options.durationMs?.(fleet.random) ?? 1));
    run.ended = fleet.clock.wall();
    fleet.atWork--;
  }

  private overTheWire(): LeaseStore {
    const inner = this.fleet.store;
    const send = <T>(call: () => Promise<T>): Promise<T> => this.send(call);
    const instants: InstantStore = {
      begin: (request) =>
        send(async () => {
          const reply = await inner.instants.begin(request);
          this.fleet.decided(request.instant, request.holderId, reply);
          return reply;
        }),
      finish: (request) => send(() => inner.instants.finish(request)),
      history: (key) => inner.instants.history(key),
    };
    return {
      instants,
      capabilities: inner.capabilities,
      acquire: (request) => send(() => inner.acquire(request)),
      renew: (requests) => send(() => inner.renew(requests)),
      release: (request) => send(() => inner.release(request)),
      leave: (request) => send(() => inner.leave(request)),
      attend: (requests) => send(() => inner.attend(requests)),
      inspect: (key) => inner.inspect(key),
      forceRelease: (key) => inner.forceRelease(key),
      ping: () => inner.ping(),
      onWake: (process, listener) => inner.onWake(process, listener),
      close: () => inner.close(),
    };
  }

  private async send<T>(call: () => Promise<T>): Promise<T> {
    const { delayMs = 0, loss = 0 } = this.conditions;
    const { clock, random } = this.fleet;
    const travel = (): Promise<void> =>
      delayMs === 0 ? Promise.resolve() : new Promise((resolve) => void clock.setTimer(resolve, random() * delayMs));
    const never = new Promise<never>(() => undefined);
    // A dead process sends nothing more; what it has sent arrives.
    if (this.clock.dead || this.cutOff === true || random() < loss) return never;
    await travel();
    const reply = await call();
    await travel();
    return this.clock.dead || this.cutOff || random() < loss ? never : reply;
  }
}
