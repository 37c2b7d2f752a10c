import { AsyncResource } from 'node:async_hooks';
import { LeaseKeyError } from '../errors/lease-key.error.js';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import type { LeaseEvents } from '../events/lease-events.js';
import type { InstantStore, RunRecord } from '../stores/instant-store.js';
import type { Busy, LeaseRecord, LeaseStore } from '../stores/lease-store.js';
import type { Clock } from '../time/clock.js';
import { Acquisition } from './acquisition.js';
import { tellAmnesia } from './amnesia-events.js';
import { askStore } from './ask-store.js';
import type { EngineParts } from './engine-parts.js';
import { FirstAcquisition } from './first-acquisition.js';
import { Floors } from './floors.js';
import { KeepAlive } from './keep-alive.js';
import { LeaseCore, type GrantedLease, type LeaseHost } from './lease-core.js';
import type { LeaseDefaults, ResolvedAcquireOptions } from './lease-options.js';
import { InstantAcquisition } from './instant-acquisition.js';
import { Lease, type LeaseHandle } from './lease.js';
import { Releaser } from './releaser.js';
import type { InstantOutcome, InstantRequest } from './scheduled-instant.js';
import { ServerTime } from './server-time.js';
import { Undoer } from './undo.js';
import { Stamper } from './validity.js';
import { Waiters } from './waiters.js';

export interface LeaseEngineOptions {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly events: LeaseEvents;
  readonly defaults: LeaseDefaults;
  /** How this process describes itself to operators. */
  readonly holder: string;
  /** Waiters of one key (in the store's line, or in this process where it is polled) beyond which a further one is busy at once. */
  readonly maxQueue?: number | undefined;
}

const LONGEST_FAREWELL_MS = 1000;

/** Everything leases of one service need, without Nest: grants, keeps alive, gives back. */
export class LeaseEngine implements LeaseHost, EngineParts {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly events: LeaseEvents;
  readonly defaults: LeaseDefaults;
  readonly holder: string;
  readonly floors = new Floors();
  readonly stamper: Stamper;
  readonly serverTime: ServerTime;
  readonly undoer: Undoer;
  readonly waiters: Waiters;
  readonly maxQueue: number | undefined;
  /** Granted, and neither released nor lost. */
  readonly active = new Set<Lease>();

  private readonly keepAlive: KeepAlive;
  private readonly releaser: Releaser;
  private readonly leases = new Map<LeaseCore, Lease>();
  private readonly waiting = new Map<string, number>();
  private readonly context = new AsyncResource('LeaseEngine');

  constructor(options: LeaseEngineOptions) {
    const { store, clock, events, defaults, holder, maxQueue } = options;
    this.store = store;
    this.clock = clock;
    this.events = events;
    this.defaults = defaults;
    this.holder = holder;
    this.maxQueue = maxQueue;
    this.stamper = new Stamper(clock);
    this.serverTime = new ServerTime(
      () => clock.monotonic(),
      (byMs) => events.emit({ type: 'server-clock-back', byMs }),
    );
    tellAmnesia(store, events);
    this.undoer = new Undoer(store, clock);
    this.waiters = new Waiters(this);
    this.releaser = new Releaser(this);
    this.keepAlive = new KeepAlive({
      store,
      clock,
      events,
      stamper: this.stamper,
      commandTimeoutMs: defaults.commandTimeoutMs,
      onAnswer: (serverTimeMs, sentMono) => this.serverTime.saw(serverTimeMs, sentMono),
    });
  }

  /**
   * A lease, after a wait of up to `waitMs`.
   * @throws LeaseBusyError, LeaseUnavailableError, LeaseKeyError, LeaseOptionsError (`minToken`), or the signal's reason
   */
  async acquire(key: string, options: ResolvedAcquireOptions): Promise<Lease> {
    checkKey(key);
    const acquisition = new Acquisition(this, key, options);
    const outcome = options.waitMs > 0 ? await this.wait(key, acquisition) : await acquisition.once();
    if (outcome instanceof Lease) return outcome;
    this.tellBusy(key, outcome, acquisition.waitedMs());
    throw acquisition.busyError(outcome);
  }

  /** One try: a lease, or `undefined` when it is busy. */
  async tryAcquire(key: string, options: ResolvedAcquireOptions): Promise<Lease | undefined> {
    checkKey(key);
    const acquisition = new Acquisition(this, key, options);
    const outcome = await acquisition.once();
    if (outcome instanceof Lease) return outcome;
    this.tellBusy(key, outcome, acquisition.waitedMs());
    return undefined;
  }

  /**
   * One try to get the first of these leases that is free, in one round trip where the store can choose; `undefined` when none is.
   * @throws LeaseUnavailableError, LeaseKeyError
   */
  async tryAcquireFirst(keys: readonly string[], options: ResolvedAcquireOptions): Promise<Lease | undefined> {
    keys.forEach(checkKey);
    const { jobs } = this.store;
    if (jobs) return new FirstAcquisition(this, jobs, keys, options).once();
    for (const key of keys) {
      const lease = await this.tryAcquire(key, options);
      if (lease) return lease;
    }
    return undefined;
  }

  /** Asks for the run of one instant; `stop` ends the asking. Rejects only where the store remembers no instants. @throws LeaseOptionsError */
  async beginInstant(request: InstantRequest, stop: AbortSignal): Promise<InstantOutcome> {
    return new InstantAcquisition(this, this.instants(), request, stop).run();
  }

  /** The runs that the store remembers of a scheduled job. @throws LeaseUnavailableError, LeaseOptionsError */
  async history(key: string): Promise<readonly RunRecord[]> {
    const instants = this.instants();
    return askStore(this, key, () => instants.history(key));
  }

  async inspect(key: string): Promise<LeaseRecord | undefined> {
    checkKey(key);
    const record = await askStore(this, key, () => this.store.inspect(key));
    if (record) this.floors.saw(key, record.fencingToken);
    return record;
  }

  async forceRelease(key: string): Promise<LeaseRecord | undefined> {
    checkKey(key);
    const record = await askStore(this, key, () => this.store.forceRelease(key));
    if (record) this.floors.saw(key, record.fencingToken);
    return record;
  }

  /**
   * Ends the timers. What is still held is left to its ttl; what waits to be taken back (places in line, unanswered tries) would keep
   * others waiting, and has a second to get there.
   */
  async close(): Promise<void> {
    this.keepAlive.close();
    let cancel = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      const timer = this.clock.setTimer(resolve, LONGEST_FAREWELL_MS);
      cancel = () => timer.cancel();
    });
    await Promise.race([this.undoer.idle(), late]);
    cancel();
    this.undoer.close();
    this.waiters.close();
  }

  hold(granted: GrantedLease, waitedMs: number): Lease {
    const core = new LeaseCore(granted, this);
    const lease = new Lease(new Handle(core, this, this.releaser));
    this.leases.set(core, lease);
    this.active.add(lease);
    this.keepAlive.add(core);
    const { key, fencingToken, ttlMs } = granted;
    if (this.events.has('acquired')) this.events.emit({ type: 'acquired', key, fencingToken, ttlMs, waitedMs });
    return lease;
  }

  ask(core: LeaseCore): void {
    this.keepAlive.ask(core);
  }

  ended(core: LeaseCore): void {
    this.keepAlive.remove(core);
    // Again, since it may have been held for longer than floors are kept.
    this.floors.saw(core.key, core.fencingToken);
    const lease = this.leases.get(core);
    this.leases.delete(core);
    if (lease) this.active.delete(lease);
  }

  outside<T>(call: () => T): T {
    return this.context.runInAsyncScope(call);
  }

  private instants(): InstantStore {
    const { instants, capabilities } = this.store;
    if (instants) return instants;
    throw new LeaseOptionsError('store', `The store ${capabilities.name} does not remember instants, so it cannot serve scheduled jobs.`);
  }

  /** Counts those that wait, since a store that is polled keeps no line that could be too long. */
  private async wait(key: string, acquisition: Acquisition): Promise<Lease | Busy> {
    const ahead = this.waiting.get(key) ?? 0;
    const tooMany = this.store.capabilities.wakeUp === 'poll' && ahead >= (this.maxQueue ?? Infinity);
    if (tooMany) return acquisition.onceInFullLine();
    this.waiting.set(key, ahead + 1);
    try {
      return await acquisition.wait();
    } finally {
      const left = (this.waiting.get(key) ?? 1) - 1;
      if (left > 0) this.waiting.set(key, left);
      else this.waiting.delete(key);
    }
  }

  private tellBusy(key: string, busy: Busy, waitedMs: number): void {
    if (!this.events.has('busy')) return;
    const { fencingToken, holder, remainingMs } = busy;
    this.events.emit({ type: 'busy', key, fencingToken, holder, waitedMs, retryAfterMs: remainingMs });
  }
}

/** A class, not four closures for each lease: a process may hold many. */
class Handle implements LeaseHandle {
  constructor(
    readonly core: LeaseCore,
    private readonly host: LeaseHost,
    private readonly releaser: Releaser,
  ) {}

  ask(): void {
    this.host.ask(this.core);
  }

  free(): Promise<boolean> {
    return this.releaser.free(this.core);
  }

  freed(): Promise<boolean> | undefined {
    return this.core.ending;
  }
}

function checkKey(key: unknown): void {
  if (typeof key === 'string' && key !== '') return;
  const shown = typeof key === 'string' ? 'empty' : `${key === null ? 'null' : typeof key}, not a string`;
  throw new LeaseKeyError(`The key of a lease is ${shown}: give a non-empty string that names what is protected, such as 'job:42'.`);
}
