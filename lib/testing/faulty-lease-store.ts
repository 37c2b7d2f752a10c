import type { EffectStore, SettleEffectRequest, StartEffectRequest } from '../stores/effect-store.js';
import type { BeginRequest, FinishRequest, InstantStore } from '../stores/instant-store.js';
import type { CoolDownRequest, FirstRequest, JobStore } from '../stores/job-store.js';
import type { ConfirmRequest, NodeRenewRequest, QuorumNode, RecallRequest } from '../stores/quorum-node.js';
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
  StoreNotice,
  StoreSubscription,
  Wake,
} from '../stores/lease-store.js';
import type { Clock } from '../time/clock.js';
import { SystemClock } from '../time/system-clock.js';

/** What each verb of the store is asked with; `renew` takes many leases in one call. */
export interface StoreCalls {
  acquire: AcquireRequest;
  renew: readonly RenewRequest[];
  release: ReleaseRequest;
  leave: LeaveRequest;
  attend: readonly AttendRequest[];
  inspect: string;
  forceRelease: string;
  ping: undefined;
  begin: BeginRequest;
  finish: FinishRequest;
  history: string;
  findEffect: string;
  startEffect: StartEffectRequest;
  settleEffect: SettleEffectRequest;
  acquireFirst: FirstRequest;
  coolDown: CoolDownRequest;
  confirm: ConfirmRequest;
  renewNode: readonly NodeRenewRequest[];
  recall: RecallRequest;
}

/** A call to the store that can go wrong. */
export type StoreVerb = keyof StoreCalls;

type Fault = <T>(apply: () => Promise<T>) => Promise<T>;

/**
 * A store whose calls go wrong as told: wrap the real one, tell it which of the next calls fail and how, and see what your
 * application does. Faults of one verb are used up in the order in which they were told, one for each call; a verb without
 * one passes straight through.
 *
 * ```ts
 * const faulty = new FaultyLeaseStore(new MemoryLeaseStore({ clock }), { clock });
 * faulty.dropReply('renew', 2);          // the next two renewals are applied, and never answered
 * faulty.fail('acquire', new Error('ECONNRESET'));
 * ```
 */
export class FaultyLeaseStore implements LeaseStore {
  readonly capabilities: StoreCapabilities;
  /** Of the store inside, where it remembers instants; its verbs fail as told, too. */
  readonly instants?: InstantStore;
  /** Of the store inside, where it remembers effects; verbs `findEffect`, `startEffect` and `settleEffect`. */
  readonly effects?: EffectStore;
  /** Of the store inside, where it chooses for job workers. */
  readonly jobs?: JobStore;
  /** Of the store inside, where it can be a node of a quorum; verbs `confirm`, `renewNode` and `recall`. */
  readonly quorumNode?: QuorumNode;
  private readonly clock: Clock;
  private readonly planned = new Map<StoreVerb, { readonly fault: Fault; left: number }[]>();
  private readonly recorded = new Map<StoreVerb, unknown[]>();

  /** `clock` times the delays; default: the clock of the machine. */
  constructor(
    private readonly inner: LeaseStore,
    options: { readonly clock?: Clock } = {},
  ) {
    this.capabilities = inner.capabilities;
    const { instants, effects, jobs, quorumNode } = inner;
    if (instants) this.instants = this.wrapInstants(instants);
    if (effects) this.effects = this.wrapEffects(effects);
    if (jobs) this.jobs = this.wrapJobs(jobs);
    if (quorumNode) this.quorumNode = this.wrapNode(quorumNode);
    this.clock = options.clock ?? new SystemClock();
  }

  /** The next `n` calls (default 1) never reach the store and never settle. */
  dropRequest(verb: StoreVerb, n = 1): this {
    return this.plan(verb, n, never);
  }

  /** The next `n` calls (default 1) are applied by the store, and never settle. */
  dropReply(verb: StoreVerb, n = 1): this {
    return this.plan(verb, n, async (apply) => {
      await apply().catch(() => undefined);
      return never();
    });
  }

  /** The next `n` calls (default 1) reach the store only after `ms` milliseconds. */
  delay(verb: StoreVerb, ms: number, n = 1): this {
    return this.plan(verb, n, async (apply) => {
      await this.pass(ms);
      return apply();
    });
  }

  /** The next `n` calls (default 1) are applied at once and answered only after `ms` milliseconds. */
  delayReply(verb: StoreVerb, ms: number, n = 1): this {
    return this.plan(verb, n, async (apply) => {
      const reply = apply();
      await Promise.all([this.pass(ms), reply.catch(() => undefined)]);
      return reply;
    });
  }

  /** The next `n` calls (default 1) never reach the store and reject with `error`. */
  fail(verb: StoreVerb, error: unknown, n = 1): this {
    return this.plan(verb, n, () => Promise.reject(error));
  }

  /** Forgets the faults still planned, of one verb or of all; what already hangs goes on hanging. */
  heal(verb?: StoreVerb): this {
    if (verb === undefined) this.planned.clear();
    else this.planned.delete(verb);
    return this;
  }

  /** What the verb was asked with so far, oldest first, calls that went wrong included. */
  calls<V extends StoreVerb>(verb: V): readonly StoreCalls[V][] {
    return [...((this.recorded.get(verb) ?? []) as StoreCalls[V][])];
  }

  acquire(request: AcquireRequest): Promise<Granted | Busy | Queued> {
    return this.run('acquire', request, () => this.inner.acquire(request));
  }

  renew(requests: readonly RenewRequest[]): Promise<RenewResult[]> {
    return this.run('renew', requests, () => this.inner.renew(requests));
  }

  release(request: ReleaseRequest): Promise<ReleaseResult> {
    return this.run('release', request, () => this.inner.release(request));
  }

  leave(request: LeaveRequest): Promise<void> {
    return this.run('leave', request, () => this.inner.leave(request));
  }

  inspect(key: string): Promise<LeaseRecord | undefined> {
    return this.run('inspect', key, () => this.inner.inspect(key));
  }

  forceRelease(key: string): Promise<LeaseRecord | undefined> {
    return this.run('forceRelease', key, () => this.inner.forceRelease(key));
  }

  ping(): Promise<void> {
    return this.run('ping', undefined, () => this.inner.ping());
  }

  unanswered(): void {
    this.inner.unanswered?.();
  }

  onNotice(listener: (notice: StoreNotice) => void): () => void {
    return this.inner.onNotice?.(listener) ?? (() => undefined);
  }

  attend(requests: readonly AttendRequest[]): Promise<(Attended | undefined)[]> {
    return this.run('attend', requests, () => this.inner.attend(requests));
  }

  onWake(process: string, listener: (wake: Wake) => void): StoreSubscription {
    return this.inner.onWake(process, listener);
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private wrapInstants(inner: InstantStore): InstantStore {
    return {
      begin: (request) => this.run('begin', request, () => inner.begin(request)),
      finish: (request) => this.run('finish', request, () => inner.finish(request)),
      history: (key) => this.run('history', key, () => inner.history(key)),
    };
  }

  private wrapEffects(inner: EffectStore): EffectStore {
    return {
      find: (key) => this.run('findEffect', key, () => inner.find(key)),
      start: (request) => this.run('startEffect', request, () => inner.start(request)),
      settle: (request) => this.run('settleEffect', request, () => inner.settle(request)),
    };
  }

  private wrapJobs(inner: JobStore): JobStore {
    return {
      acquireFirst: (request) => this.run('acquireFirst', request, () => inner.acquireFirst(request)),
      coolDown: (request) => this.run('coolDown', request, () => inner.coolDown(request)),
    };
  }

  private wrapNode(inner: QuorumNode): QuorumNode {
    return {
      confirm: (request) => this.run('confirm', request, () => inner.confirm(request)),
      renew: (requests) => this.run('renewNode', requests, () => inner.renew(requests)),
      recall: (request) => this.run('recall', request, () => inner.recall(request)),
    };
  }

  private plan(verb: StoreVerb, n: number, fault: Fault): this {
    if (!(n >= 1)) throw new RangeError(`A fault of "${verb}" for ${String(n)} calls: give 1 or more, Infinity for all until heal().`);
    const faults = (this.planned.get(verb) ?? []).filter((entry) => entry.left > 0);
    this.planned.set(verb, [...faults, { fault, left: n }]);
    return this;
  }

  private run<V extends StoreVerb, T>(verb: V, asked: StoreCalls[V], apply: () => Promise<T>): Promise<T> {
    const recorded = this.recorded.get(verb) ?? [];
    this.recorded.set(verb, recorded);
    recorded.push(asked);
    const next = this.planned.get(verb)?.find((entry) => entry.left > 0);
    if (next === undefined) return apply();
    next.left -= 1;
    return next.fault(apply);
  }

  private pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(resolve, ms));
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}
