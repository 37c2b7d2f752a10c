import { LeaseShutdownError } from '../errors/lease-shutdown.error.js';
import type { LeaseLostError } from '../errors/lease-lost.error.js';
import { givenBack, heldMsOf, loseLease, settleLease } from '../lease/lease-control.js';
import type { LeaseEngine } from '../lease/lease-engine.js';
import type { ResolvedAcquireOptions } from '../lease/lease-options.js';
import type { Lease } from '../lease/lease.js';
import type { InstantOutcome, InstantRequest } from '../lease/scheduled-instant.js';
import { linkedSignal, type LinkedSignal } from './linked-signal.js';

export interface LeaseRegistryOptions {
  readonly engine: LeaseEngine;
  /** How long running handlers may finish at shutdown. */
  readonly shutdownGraceMs: number;
  /** True inside a leased handler that still runs: it may take further leases until the grace ends. */
  readonly inside: () => boolean;
}

interface Waiter {
  readonly key: string;
  readonly link: LinkedSignal;
  readonly inside: boolean;
}

/** After the grace running handlers are aborted, and have so long to settle. */
const ABORTED_MS = 2000;
const LOOK_EVERY_MS = 20;

/** Which leases of one service are asked for and in use: admits them, and at shutdown waits for them. */
export class LeaseRegistry {
  private phase: 'open' | 'draining' | 'closed' = 'open';
  private drained: Promise<void> | undefined;
  private readonly stopper = new AbortController();
  private readonly waiters = new Set<Waiter>();
  /** Of handlers that have not settled, lost or not. */
  private readonly running = new Set<Lease>();
  /** Calls that wait for an answer of the store, each for no longer than its limit: the connection must outlive them too. */
  private readonly asking = new Set<Promise<unknown>>();
  /** Releases in the background that the connection must outlive. */
  private readonly ending = new Set<Promise<unknown>>();

  constructor(private readonly options: LeaseRegistryOptions) {}

  /** The application shuts down: no scheduled run is begun any more, though calls that are on their way may still be made. */
  get stopping(): boolean {
    return this.stopper.signal.aborted;
  }

  stop(): void {
    this.stopper.abort();
  }

  /** The run of a scheduled instant, never once the application has begun to shut down. @throws LeaseOptionsError where the store remembers no instants */
  async beginInstant(request: InstantRequest): Promise<InstantOutcome> {
    if (this.stopping) return { kind: 'stopped' };
    const outcome = await this.options.engine.beginInstant(request, this.stopper.signal);
    if (outcome.kind !== 'granted' || !this.stopper.signal.aborted) return outcome;
    await outcome.lease.release();
    return { kind: 'stopped' };
  }

  /** @throws LeaseShutdownError, also out of a wait, and all that the engine throws */
  acquire(key: string, options: ResolvedAcquireOptions): Promise<Lease> {
    return this.admit(key, options, (admitted) => this.options.engine.acquire(key, admitted));
  }

  /** One try: `undefined` when it is busy. */
  tryAcquire(key: string, options: ResolvedAcquireOptions): Promise<Lease | undefined> {
    return this.admit(key, { ...options, waitMs: 0 }, (admitted) => this.options.engine.tryAcquire(key, admitted));
  }

  /** One try for the first that is free of these, of which there is one at least: `undefined` when none is. */
  tryAcquireFirst(keys: readonly string[], options: ResolvedAcquireOptions): Promise<Lease | undefined> {
    const admitted = { ...options, waitMs: 0 };
    return this.admit(String(keys[0]), admitted, () => this.options.engine.tryAcquireFirst(keys, admitted));
  }

  /** A handler starts to run under this lease: shutdown waits for `settle`. */
  begin(lease: Lease): void {
    this.running.add(lease);
  }

  /** The handler has settled: gives the lease back and tells the loss to report. Never rejects. */
  async settle(lease: Lease): Promise<LeaseLostError | undefined> {
    const loss = await settleLease(lease);
    this.running.delete(lease);
    const release = loss && givenBack(lease);
    if (release) void this.end(release);
    return loss;
  }

  /** Nothing runs, and no bare lease waits for its `release()`. */
  get idle(): boolean {
    return this.running.size === 0 && this.bare().length === 0;
  }

  /**
   * From now on nothing new, save inside running handlers; ends when `quiet` says so, or the grace and what follows it are over.
   * `quiet` is this service's own idleness, or that of all services of the application, whose handlers may yet need this one.
   * A further call waits for the same end: an application may be told to close twice.
   */
  drain(quiet: () => boolean = () => this.idle): Promise<void> {
    return (this.drained ??= this.drainOnce(quiet));
  }

  private async drainOnce(quiet: () => boolean): Promise<void> {
    this.stop();
    this.phase = 'draining';
    this.refuse((waiter) => !waiter.inside);
    await this.until(quiet, this.options.shutdownGraceMs);
    this.phase = 'closed';
    this.refuse(() => true);
    const left = new Set([...this.running, ...this.bare()]);
    for (const lease of left) loseLease(lease, 'shutdown');
    await this.until(() => [...left].every((lease) => this.over(lease)), ABORTED_MS);
    for (const lease of left) if (!this.over(lease)) this.tellUnsettled(lease);
    await Promise.allSettled([...left].map(async (lease) => givenBack(lease)));
    // What is asked for may be granted yet, and is given back then.
    while (this.asking.size + this.ending.size > 0) await Promise.allSettled([...this.asking, ...this.ending]);
  }

  /** One function, since each further one that is awaited costs every call. */
  private async admit<T extends Lease | undefined>(
    key: string,
    options: ResolvedAcquireOptions,
    acquire: (options: ResolvedAcquireOptions) => Promise<T>,
  ): Promise<T> {
    const inside = this.options.inside();
    if (this.refuses(inside)) throw new LeaseShutdownError(key);
    const asked = options.waitMs > 0 ? this.wait({ key, inside }, options, acquire) : acquire(options);
    this.asking.add(asked);
    try {
      const lease = await asked;
      if (lease === undefined || !this.refuses(inside)) return lease;
      await this.end(lease.release());
      throw new LeaseShutdownError(key);
    } finally {
      this.asking.delete(asked);
    }
  }

  /** A release that the connection must outlive. */
  private async end(release: Promise<unknown>): Promise<void> {
    this.ending.add(release);
    await release.finally(() => this.ending.delete(release));
  }

  private async wait<T>(
    call: { key: string; inside: boolean },
    options: ResolvedAcquireOptions,
    acquire: (options: ResolvedAcquireOptions) => Promise<T>,
  ): Promise<T> {
    const link = linkedSignal([options.signal]);
    const waiter = { ...call, link };
    this.waiters.add(waiter);
    try {
      return await acquire({ ...options, signal: link.signal });
    } finally {
      link.unlink();
      this.waiters.delete(waiter);
    }
  }

  private refuses(inside: boolean): boolean {
    return this.phase === 'closed' || (this.phase === 'draining' && !inside);
  }

  private refuse(which: (waiter: Waiter) => boolean): void {
    for (const waiter of this.waiters) if (which(waiter)) waiter.link.abort(new LeaseShutdownError(waiter.key));
  }

  /** Leases that somebody holds by `acquire()` and has not given back. */
  private bare(): Lease[] {
    return [...this.options.engine.active].filter((lease) => !this.running.has(lease));
  }

  private over(lease: Lease): boolean {
    return !this.running.has(lease) && givenBack(lease) !== undefined;
  }

  private tellUnsettled(lease: Lease): void {
    const { key, fencingToken } = lease;
    this.options.engine.events.emit({ type: 'unsettled', key, fencingToken, heldMs: heldMsOf(lease) });
  }

  /** Looks now, and then every few milliseconds: nobody tells of a bare lease that was given back. */
  private until(done: () => boolean, limitMs: number): Promise<void> {
    const { clock } = this.options.engine;
    const end = clock.monotonic() + limitMs;
    return new Promise((resolve) => {
      const look = (): void => {
        const left = end - clock.monotonic();
        if (done() || left <= 0) resolve();
        else clock.setTimer(look, Math.min(LOOK_EVERY_MS, left));
      };
      look();
    });
  }
}
