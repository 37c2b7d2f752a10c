import { randomUUID } from 'node:crypto';
import type { Clock } from '../../time/clock.js';
import { SystemClock } from '../../time/system-clock.js';
import type { EffectStore } from '../effect-store.js';
import type { InstantStore } from '../instant-store.js';
import type { JobStore } from '../job-store.js';
import type { QuorumNode } from '../quorum-node.js';
import type {
  AcquireRequest,
  Attended,
  AttendRequest,
  Busy,
  Granted,
  LeaseRecord,
  LeaseStore,
  LeaveRequest,
  Queued,
  ReleaseRequest,
  ReleaseResult,
  RenewRequest,
  RenewResult,
  StoreCapabilities,
  StoreSubscription,
  Wake,
} from '../lease-store.js';
import { ExpiringMap } from './expiring-map.js';
import type { HeldLease } from './held-lease.js';
import { MemoryEffects } from './memory-effects.js';
import { fenceRules, type Fence } from './memory-fence.js';
import { MemoryLines } from './memory-lines.js';
import { MemoryInstants } from './memory-instants.js';
import { MemoryJobs } from './memory-jobs.js';
import { MemoryQuorumNode } from './memory-quorum-node.js';

/** How a `MemoryLeaseStore` is set up. */
export interface MemoryLeaseStoreOptions {
  /** Whose wall clock decides about expiry; it plays the part of the server's. Default: the clock of the machine. */
  readonly clock?: Clock;
  /** How long the last token of an idle key is remembered, in milliseconds. Default: 24 hours. */
  readonly fenceRetention?: number;
}

/**
 * Leases in the memory of this process, with the rules of the Redis store: for tests, samples and applications of a single
 * process. Two instances know nothing of each other; one instance may serve several applications of the process, which are
 * then rivals as replicas would be. Everything is forgotten with the process.
 */
export class MemoryLeaseStore implements LeaseStore {
  readonly capabilities: StoreCapabilities = { name: 'memory', shared: false, clock: 'process', wakeUp: 'push', fifo: true };
  readonly instants: InstantStore;
  readonly effects: EffectStore;
  readonly jobs: JobStore;
  readonly quorumNode: QuorumNode;
  protected readonly leases = new ExpiringMap<HeldLease>();
  protected readonly fences = new ExpiringMap<Fence>();
  private readonly lines: MemoryLines;
  private readonly clock: Clock;
  private readonly fenceRetentionMs: number;

  constructor(options: MemoryLeaseStoreOptions = {}) {
    this.clock = options.clock ?? new SystemClock();
    this.fenceRetentionMs = options.fenceRetention ?? fenceRules.defaultRetentionMs;
    const table = { now: () => this.clock.wall(), held: (key: string, now: number) => this.leases.get(key, now) };
    const known = {
      ...table,
      put: (key: string, lease: HeldLease, now: number) => this.leases.set(key, lease, now),
      lastToken: (key: string, now: number) => this.fences.get(key, now)?.token ?? 0,
    };
    this.lines = new MemoryLines(known);
    this.effects = new MemoryEffects(table);
    this.jobs = new MemoryJobs({
      ...table,
      take: (request, now) => this.take(request, now),
      end: ({ key, holderId, fencingToken, cooldownMs }, now) => this.end(key, holderId, fencingToken, cooldownMs, now),
    });
    this.instants = new MemoryInstants({
      ...table,
      grant: (request, now) => {
        const lease = this.leases.get(request.key, now);
        return (lease ? this.again(request, lease, now) : this.grant(request, now)).fencingToken;
      },
      end: ({ key, holderId, fencingToken }, cooldownMs, now) => this.end(key, holderId, fencingToken, cooldownMs, now),
      remainingMs,
    });
    const raise = this.raiseFence.bind(this);
    this.quorumNode = new MemoryQuorumNode({ ...known, raise, renew: (request) => this.renewOne(request), run: randomUUID() });
  }

  acquire(request: AcquireRequest): Promise<Granted | Busy | Queued> {
    return atOnce(() => this.take(request, this.clock.wall()));
  }

  renew(requests: readonly RenewRequest[]): Promise<RenewResult[]> {
    return atOnce(() => requests.map((request) => this.renewOne(request)));
  }

  release({ key, holderId, fencingToken }: ReleaseRequest): Promise<ReleaseResult> {
    return atOnce(() => ({ kind: this.end(key, holderId, fencingToken, 0, this.clock.wall()) ? 'released' : 'not-held' }));
  }

  leave({ key, holderId }: LeaveRequest): Promise<void> {
    return atOnce(() => {
      const now = this.clock.wall();
      this.lines.leave(key, holderId, now);
      if (this.heldBy(key, holderId, now)) this.free(key, now);
    });
  }

  attend(requests: readonly AttendRequest[]): Promise<Attended[]> {
    return atOnce(() => requests.map((request) => this.lines.attend(request, this.clock.wall())));
  }

  inspect(key: string): Promise<LeaseRecord | undefined> {
    return atOnce(() => this.record(key, this.clock.wall()));
  }

  forceRelease(key: string): Promise<LeaseRecord | undefined> {
    return atOnce(() => {
      const now = this.clock.wall();
      const lease = this.leases.get(key, now);
      if (lease === undefined) return undefined;
      const record = this.record(key, now);
      // Also when the fence was lost meanwhile: the next token must be higher.
      this.raiseFence(key, lease, lease.fencingToken, now);
      this.free(key, now);
      return record;
    });
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  onWake(process: string, listener: (wake: Wake) => void): StoreSubscription {
    return { ready: Promise.resolve(), unsubscribe: this.lines.listen(process, listener) };
  }

  /** Nothing was opened. The leases stay: another application may share this store. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private take(request: AcquireRequest, now: number): Granted | Busy | Queued {
    const lease = this.leases.get(request.key, now) ?? this.lines.turn(request, now);
    if (lease === undefined) return this.grant(request, now);
    if (lease.holderId !== request.holderId) return this.refuse(request, lease, now);
    if (lease.state === 'held') return this.again(request, lease, now);
    this.lines.claimed(request.key);
    return this.grant(request, now);
  }

  /** Asked again by its holder: the same token, and the full ttl. */
  private again({ key, ttlMs }: AcquireRequest, lease: HeldLease, now: number): Granted {
    this.keep(key, lease, ttlMs, lease.fencingToken, now);
    return granted(lease.fencingToken, ttlMs, now);
  }

  private grant(request: AcquireRequest, now: number): Granted {
    const { key, holderId, holderTag, holder, ttlMs, floor } = request;
    const fencingToken = fenceRules.next(key, this.fences.get(key, now)?.token ?? 0, floor, now);
    const lease: HeldLease = { state: 'held', holderId, holderTag, holder, fencingToken, ttlMs, since: now, expiresAt: now + ttlMs };
    this.leases.set(key, lease, now);
    this.raiseFence(key, lease, fencingToken, now);
    return granted(fencingToken, ttlMs, now);
  }

  private refuse(request: AcquireRequest, lease: HeldLease, now: number): Busy | Queued {
    const place = this.lines.enter(request, now);
    return place ? { ...busy(lease, now), kind: 'queued', ticket: place.ticket } : busy(lease, now);
  }

  private free(key: string, now: number): void {
    this.leases.delete(key);
    this.lines.free(key, now);
  }

  /** `cooldownMs`: how long the key stays taken, by nobody. */
  private end(key: string, holderId: string, fencingToken: number, cooldownMs: number, now: number): boolean {
    const lease = this.heldBy(key, holderId, now);
    if (lease === undefined) return false;
    this.raiseFence(key, lease, fencingToken, now);
    if (cooldownMs === 0) this.free(key, now);
    else this.leases.set(key, { ...lease, state: 'cooldown', holderId: '', ttlMs: cooldownMs, expiresAt: now + cooldownMs }, now);
    return true;
  }

  private renewOne({ key, holderId, fencingToken, ttlMs }: RenewRequest): RenewResult {
    const now = this.clock.wall();
    const lease = this.leases.get(key, now);
    if (lease === undefined) return { kind: 'gone' };
    if (lease.holderId !== holderId || lease.state !== 'held') return { kind: 'taken', fencingToken: lease.fencingToken };
    this.keep(key, lease, ttlMs, fencingToken, now);
    return { kind: 'held', serverTimeMs: now };
  }

  /** Extends, never shortens. A remaining time above the recorded ttl (the clock went back) is put right on the way. */
  private keep(key: string, lease: HeldLease, ttlMs: number, token: number, now: number): void {
    const kept = ttlMs >= remainingMs(lease, now) ? { ...lease, ttlMs, expiresAt: now + ttlMs } : lease;
    if (kept !== lease) this.leases.set(key, kept, now);
    this.raiseFence(key, kept, token, now);
  }

  /** Remembers the highest token, and for how long; a token that no clock can have made does not poison the key. */
  private raiseFence(key: string, lease: HeldLease, asked: number, now: number): void {
    const wanted = fenceRules.plausible(asked, now) ? Math.max(asked, lease.fencingToken) : lease.fencingToken;
    const token = Math.max(this.fences.get(key, now)?.token ?? 0, wanted);
    this.fences.set(key, { token, expiresAt: fenceRules.expiresAt(token, lease.ttlMs, this.fenceRetentionMs, now) }, now);
  }

  private heldBy(key: string, holderId: string, now: number): HeldLease | undefined {
    const lease = this.leases.get(key, now);
    return lease?.holderId === holderId ? lease : undefined;
  }

  private record(key: string, now: number): LeaseRecord | undefined {
    const lease = this.leases.get(key, now);
    if (lease === undefined) return undefined;
    const { state, holder, holderTag, fencingToken, since } = lease;
    const waiters = this.lines.lengthOf(key);
    return { key, state, holder, holderTag, fencingToken, since, remainingMs: remainingMs(lease, now), waiters };
  }
}

/** Never above the recorded ttl, though the clock may have been set back since. */
function remainingMs(lease: HeldLease, now: number): number {
  return Math.min(lease.expiresAt - now, lease.ttlMs);
}

function granted(fencingToken: number, ttlMs: number, now: number): Granted {
  return { kind: 'granted', fencingToken, ttlMs, serverTimeMs: now };
}

function busy(lease: HeldLease, now: number): Busy {
  const { holder, holderTag, fencingToken } = lease;
  return { kind: 'busy', remainingMs: remainingMs(lease, now), fencingToken, holder, holderTag, serverTimeMs: now };
}

/** Decides at the call, in one step as a script would, and answers as a promise. */
function atOnce<T>(decide: () => T): Promise<T> {
  return new Promise((resolve) => resolve(decide()));
}
