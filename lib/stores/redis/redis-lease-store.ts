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
  StoreNotice,
  StoreSubscription,
  Wake,
} from '../lease-store.js';
import { Amnesia } from './amnesia.js';
import { RedisConnection } from './connection.js';
import { DEFAULT_CONNECTION, planConnection, type ConnectionPlan } from './connection-option.js';
import { GrantCalls, type GrantPath } from './grant-calls.js';
import { GrantLimit } from './grant-limit.js';
import { Greeter } from './greeter.js';
import { escapePart, LeaseKeys } from './keys.js';
import { Notices } from './notices.js';
import { RedisEffects } from './redis-effects.js';
import { RedisInstants } from './redis-instants.js';
import { RedisJobs } from './redis-jobs.js';
import { RedisQuorumNode } from './redis-quorum-node.js';
import { RedisRenewals } from './redis-renewals.js';
import { memberOf, placeOf, RedisLine } from './redis-line.js';
import { checkDurability, checkWhole, type RedisLeaseStoreOptions } from './redis-store-options.js';
import { readAcquire, readRecord } from './replies.js';
import { ScriptCalls } from './script-calls.js';
import { acquireScript } from './scripts/acquire.script.js';
import { forceReleaseScript } from './scripts/force-release.script.js';
import { inspectScript } from './scripts/inspect.script.js';
import type { LeaseScript } from './scripts/lease-script.js';
import { withSpare } from './scripts/lua-parts.js';
import { releaseScript } from './scripts/release.script.js';
import { toStoreError } from './redis-errors.js';
import { Turn } from './turn.js';

const DAY_MS = 86_400_000;
const PATIENCE_MS = 5000;

/**
 * Leases in Redis: one script for each verb, the clock of the server for every decision, and one round trip for all that is
 * asked in the same turn of the event loop. Nothing is opened before the first call; connections come back by themselves.
 *
 * @throws LeaseOptionsError for a connection or namespace that cannot be used
 */
export class RedisLeaseStore implements LeaseStore {
  readonly capabilities: StoreCapabilities = { name: 'redis', shared: true, clock: 'server', wakeUp: 'push', fifo: true };
  readonly instants: InstantStore;
  readonly effects: EffectStore;
  readonly jobs: JobStore;
  readonly quorumNode: QuorumNode;
  private readonly keys: LeaseKeys;
  private readonly retention: readonly number[];
  /** What scripts that may pass a lease on are given. */
  private readonly passing: readonly (string | number)[];
  private readonly notices = new Notices();
  private readonly connection: RedisConnection;
  /** What grants with `durability` have for themselves, since WAIT holds up what is sent after it. */
  private readonly ownConnection: RedisConnection | undefined;
  private readonly calls: ScriptCalls;
  private readonly grants: GrantPath;
  /** Grants that depend on the node which gives them, where there are such. */
  private readonly byNode: GrantCalls | undefined;
  private readonly renewals: RedisRenewals;
  private readonly line: RedisLine;
  private readonly turn: Turn;

  constructor(options: RedisLeaseStoreOptions = {}) {
    const { namespace = 'lease', fenceRetentionMs = DAY_MS, patienceMs = PATIENCE_MS, clock = new SystemClock(), amnesiaGuardMs } = options;
    checkWhole('fenceRetention', fenceRetentionMs, ' ms');
    if (amnesiaGuardMs !== undefined) checkWhole('amnesiaGuard', amnesiaGuardMs, ' ms');
    const durability = checkDurability(options.durability);
    const plan = planConnection('connection' in options ? options.connection : DEFAULT_CONNECTION);
    this.keys = new LeaseKeys(namespace);
    this.retention = [withSpare(fenceRetentionMs)];
    this.passing = [...this.retention, isCluster(plan) ? '' : this.keys.wakeChannel];
    const amnesia = new Amnesia(clock, this.notices, amnesiaGuardMs);
    const greeter = new Greeter(clock, this.notices, amnesia, durability !== undefined);
    const connect = (): RedisConnection => new RedisConnection(plan, clock, patienceMs, greeter);
    this.connection = connect();
    this.calls = new ScriptCalls(this.connection);
    this.ownConnection = durability && connect();
    const connection = this.ownConnection ?? this.connection;
    if (durability || (amnesiaGuardMs !== undefined && isCluster(plan)))
      this.byNode = new GrantCalls({ connection, greeter, amnesia, clock, patienceMs, durability });
    const path = this.byNode ?? new ScriptCalls(connection, () => amnesia.refusal(''));
    this.grants = amnesiaGuardMs === undefined ? path : new GrantLimit(path, amnesiaGuardMs);
    this.instants = new RedisInstants(this.keys, this.calls, this.grants, this.retention);
    this.effects = new RedisEffects(this.keys, this.calls);
    this.jobs = new RedisJobs(this.keys, this.calls, this.grants, this.retention, this.passing, (key) => this.inspect(key));
    this.quorumNode = new RedisQuorumNode(this.keys, this.calls, this.connection, this.retention);
    this.renewals = new RedisRenewals(this.keys, this.calls, this.retention);
    this.line = new RedisLine(isCluster(plan) ? undefined : plan, this.keys, this.calls, this.connection, this.notices, clock);
    this.turn = new Turn(
      (asked) => this.calls.send(releaseScript, this.passing, asked),
      (asked) => this.grants.send(acquireScript, this.passing, asked),
    );
  }

  acquire(request: AcquireRequest): Promise<Granted | Busy | Queued> {
    return new Promise((resolve, reject) => {
      const { holderId, holderTag, holder, ttlMs, floor = 0, wait } = request;
      const keys = this.keys.of(request.key);
      this.turn.acquire(keys[0], {
        keys,
        ttlMs,
        args: [escapePart(holderId), ttlMs, floor, `${escapePart(holderTag)} ${holder}`, wait ? placeOf(wait) : ''],
        settle: (reply, time) => resolve(readAcquire(reply, request, keys[0], time)),
        fail: reject,
      });
    });
  }

  /** Rejects only when nothing at all could be asked. */
  renew(requests: readonly RenewRequest[]): Promise<RenewResult[]> {
    return this.renewals.renew(requests);
  }

  release({ key, holderId, fencingToken }: ReleaseRequest): Promise<ReleaseResult> {
    return this.end(key, holderId, fencingToken, '');
  }

  async leave({ key, holderId, holderTag, wait }: LeaveRequest): Promise<void> {
    await this.end(key, holderId, 0, wait ? memberOf(wait, holderId, holderTag) : '');
  }

  attend(requests: readonly AttendRequest[]): Promise<(Attended | undefined)[]> {
    return this.line.attend(requests);
  }

  inspect(key: string): Promise<LeaseRecord | undefined> {
    return this.ask(inspectScript, [], key, ([lease, , queue]) => [lease, queue]);
  }

  forceRelease(key: string): Promise<LeaseRecord | undefined> {
    return this.ask(forceReleaseScript, this.passing, key, (keys) => keys);
  }

  /** With `durability` it rejects also where WAIT is refused. */
  async ping(): Promise<void> {
    const calls = [this.connection.run((client) => client.ping())];
    if (this.byNode) calls.push(this.byNode.check());
    await Promise.all(calls).catch((error: unknown) => Promise.reject(toStoreError(error)));
  }

  unanswered(): void {
    const { connection, ownConnection } = this;
    // Which of the two it was is not told: not one that owes nothing.
    if (!ownConnection || connection.isBusy) connection.unanswered();
    if (ownConnection?.isBusy && !this.byNode?.isPatient) ownConnection.unanswered();
  }

  onNotice(listener: (notice: StoreNotice) => void): () => void {
    return this.notices.on(listener);
  }

  onWake(process: string, listener: (wake: Wake) => void): StoreSubscription {
    return this.line.onWake(process, listener);
  }

  /** Closes the connections that this store has made; a client that was handed to it stays as it is. */
  close(): Promise<void> {
    this.connection.close();
    this.ownConnection?.close();
    this.line.close();
    return Promise.resolve();
  }

  private end(key: string, holderId: string, token: number, member: string): Promise<ReleaseResult> {
    return new Promise((resolve, reject) => {
      const keys = this.keys.of(key);
      this.turn.release(keys[0], {
        keys,
        args: [escapePart(holderId), token, member],
        settle: (reply) => resolve({ kind: reply === 1 ? 'released' : 'not-held' }),
        fail: reject,
      });
    });
  }

  private ask(
    script: LeaseScript,
    shared: readonly (string | number)[],
    key: string,
    pick: (keys: ReturnType<LeaseKeys['of']>) => readonly string[],
  ): Promise<LeaseRecord | undefined> {
    return new Promise((resolve, reject) => {
      const keys = this.keys.of(key);
      const settle = (reply: unknown): void => resolve(readRecord(reply, key, keys[0]));
      this.calls.send(script, shared, [{ keys: pick(keys), args: [], settle, fail: reject }]);
    });
  }
}

/** Keys are spread over nodes, of which each may forget by itself. */
function isCluster(plan: ConnectionPlan): boolean {
  return plan.kind === 'cluster' || (plan.kind === 'client' && plan.client.isCluster === true);
}
