import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import type { Clock } from '../../time/clock.js';
import { SystemClock } from '../../time/system-clock.js';
import type { EffectStore } from '../effect-store.js';
import type { InstantStore } from '../instant-store.js';
import type { JobStore } from '../job-store.js';
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
  StoreError,
  StoreSubscription,
  WaitPlace,
  Wake,
} from '../lease-store.js';
import { RedisConnection } from './connection.js';
import { DEFAULT_CONNECTION, planConnection, type ConnectionPlan, type RedisConnectionOption } from './connection-option.js';
import { escapePart, LeaseKeys } from './keys.js';
import { RedisEffects } from './redis-effects.js';
import { RedisInstants } from './redis-instants.js';
import { RedisJobs } from './redis-jobs.js';
import { readAcquire, readAttended, readRecord, readRenew } from './replies.js';
import { ScriptCalls, type Asked } from './script-calls.js';
import { acquireScript } from './scripts/acquire.script.js';
import { attendScript } from './scripts/attend.script.js';
import { forceReleaseScript } from './scripts/force-release.script.js';
import { inspectScript } from './scripts/inspect.script.js';
import type { LeaseScript } from './scripts/lease-script.js';
import { withSpare } from './scripts/lua-parts.js';
import { releaseScript } from './scripts/release.script.js';
import { renewScript } from './scripts/renew.script.js';
import { toStoreError } from './redis-errors.js';
import { Turn } from './turn.js';
import { WakeSubscription } from './wake-subscription.js';

/** How a `RedisLeaseStore` is set up. */
export interface RedisLeaseStoreOptions {
  /**
   * How Redis is reached: a URL, ioredis options (`sentinels` included), `{ cluster: { nodes, options } }`, or a ready client
   * of ioredis 5 or 6, of which a duplicate is used. Default, only where it is left out: `redis://127.0.0.1:6379`.
   */
  readonly connection?: RedisConnectionOption;
  /** Prefix of every key; no braces. Default: `lease`. */
  readonly namespace?: string;
  /** How long the last token of an idle key is remembered, in milliseconds. Default: 24 hours. */
  readonly fenceRetentionMs?: number;
  /** How long a call waits for a connection while there is none, in milliseconds; its caller may give it up sooner. Default: 5,000. */
  readonly patienceMs?: number;
  /** Times the waiting for a connection, and nothing else. Default: the clock of the machine. */
  readonly clock?: Clock;
}

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
  private readonly keys: LeaseKeys;
  private readonly retention: readonly number[];
  /** What scripts that may pass a lease on are given. */
  private readonly passing: readonly (string | number)[];
  private readonly plan: ConnectionPlan;
  private readonly subscriptions = new Set<WakeSubscription>();
  private readonly connection: RedisConnection;
  private readonly calls: ScriptCalls;
  private readonly turn: Turn;

  constructor(options: RedisLeaseStoreOptions = {}) {
    const { namespace = 'lease', fenceRetentionMs = DAY_MS, patienceMs = PATIENCE_MS, clock = new SystemClock() } = options;
    if (!Number.isSafeInteger(fenceRetentionMs) || fenceRetentionMs <= 0) {
      throw new LeaseOptionsError(
        'fenceRetention',
        `The option "fenceRetention" is ${String(fenceRetentionMs)} ms: it must be whole and longer than zero.`,
      );
    }
    const plan = (this.plan = planConnection('connection' in options ? options.connection : DEFAULT_CONNECTION));
    this.keys = new LeaseKeys(namespace);
    this.retention = [withSpare(fenceRetentionMs)];
    this.passing = [...this.retention, this.keys.wakeChannel];
    this.connection = new RedisConnection(plan, clock, patienceMs);
    this.calls = new ScriptCalls(this.connection);
    this.instants = new RedisInstants(this.keys, this.calls, this.retention);
    this.effects = new RedisEffects(this.keys, this.calls);
    this.jobs = new RedisJobs(this.keys, this.calls, this.retention, this.passing, (key) => this.inspect(key));
    this.turn = new Turn(
      (asked) => this.calls.send(releaseScript, this.passing, asked),
      (asked) => this.calls.send(acquireScript, this.passing, asked),
    );
  }

  acquire(request: AcquireRequest): Promise<Granted | Busy | Queued> {
    return new Promise((resolve, reject) => {
      const { holderId, holderTag, holder, ttlMs, floor = 0, wait } = request;
      const keys = this.keys.of(request.key);
      this.turn.acquire(keys[0], {
        keys,
        args: [escapePart(holderId), ttlMs, floor, `${escapePart(holderTag)} ${holder}`, wait ? placeOf(wait) : ''],
        settle: (reply, time) => resolve(readAcquire(reply, request, keys[0], time)),
        fail: reject,
      });
    });
  }

  /** Rejects only when nothing at all could be asked. */
  renew(requests: readonly RenewRequest[]): Promise<RenewResult[]> {
    if (requests.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const results = new Array<RenewResult>(requests.length);
      let left = requests.length;
      let failed = 0;
      const put = (i: number, result: RenewResult, error?: StoreError): void => {
        results[i] = result;
        left -= 1;
        if (error) failed += 1;
        if (left > 0) return;
        if (error && failed === requests.length) reject(error);
        else resolve(results);
      };
      const asked = requests.map(({ key, holderId, ttlMs, fencingToken }, i): Asked => {
        const [lease, fence] = this.keys.of(key);
        return {
          keys: [lease, fence],
          args: [escapePart(holderId), ttlMs, fencingToken],
          settle: (reply, time) => put(i, readRenew(reply, lease, time)),
          fail: (error) => put(i, { kind: 'unknown', error }, error),
        };
      });
      this.calls.send(renewScript, this.retention, asked);
    });
  }

  release({ key, holderId, fencingToken }: ReleaseRequest): Promise<ReleaseResult> {
    return this.end(key, holderId, fencingToken, '');
  }

  async leave({ key, holderId, holderTag, wait }: LeaveRequest): Promise<void> {
    await this.end(key, holderId, 0, wait ? memberOf(wait, holderId, holderTag) : '');
  }

  /** Rejects only when nothing at all could be asked. */
  async attend(requests: readonly AttendRequest[]): Promise<(Attended | undefined)[]> {
    const asked: Asked[] = [];
    const answers = requests.map(
      ({ key, process }) =>
        new Promise<Attended>((resolve, reject) => {
          const [lease, , queue, waiters] = this.keys.of(key);
          const settle = (reply: unknown): void => resolve(readAttended(reply));
          asked.push({ keys: [lease, queue, waiters], args: [escapePart(process)], settle, fail: reject });
        }),
    );
    this.calls.send(attendScript, [], asked);
    const settled = await Promise.allSettled(answers);
    if (settled.every(({ status }) => status === 'rejected')) await answers[0];
    return settled.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined));
  }

  inspect(key: string): Promise<LeaseRecord | undefined> {
    return this.ask(inspectScript, [], key, ([lease, , queue]) => [lease, queue]);
  }

  forceRelease(key: string): Promise<LeaseRecord | undefined> {
    return this.ask(forceReleaseScript, this.passing, key, (keys) => keys);
  }

  async ping(): Promise<void> {
    await this.connection.run((client) => client.ping()).catch((error: unknown) => Promise.reject(toStoreError(error)));
  }

  unanswered(): void {
    this.connection.unanswered();
  }

  onWake(process: string, listener: (wake: Wake) => void): StoreSubscription {
    const subscription = new WakeSubscription(this.plan, this.keys.wakeChannel + escapePart(process), listener);
    this.subscriptions.add(subscription);
    return subscription;
  }

  /** Closes the connection that this store has made; a client that was handed to it stays as it is. */
  close(): Promise<void> {
    this.connection.close();
    for (const subscription of this.subscriptions) subscription.unsubscribe();
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

/** How a place in the line is asked for. */
function placeOf({ process, ticket, claimMs, maxQueue }: WaitPlace): string {
  return `${escapePart(process)} ${ticket === undefined ? '-' : String(ticket)} ${String(Math.ceil(claimMs))} ${String(maxQueue)}`;
}

/** How it stands in the line. */
function memberOf({ process, claimMs }: WaitPlace, holderId: string, holderTag: string): string {
  return `${escapePart(process)} ${escapePart(holderId)} ${String(Math.ceil(claimMs))} ${escapePart(holderTag)}`;
}
