import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import type { Clock } from '../../time/clock.js';
import { SystemClock } from '../../time/system-clock.js';
import type { InstantStore } from '../instant-store.js';
import type {
  AcquireRequest,
  Busy,
  Granted,
  LeaseRecord,
  LeaseStore,
  LeaveRequest,
  ReleaseRequest,
  ReleaseResult,
  RenewRequest,
  RenewResult,
  StoreCapabilities,
  StoreError,
  StoreSubscription,
} from '../lease-store.js';
import { RedisConnection } from './connection.js';
import { DEFAULT_CONNECTION, planConnection, type RedisConnectionOption } from './connection-option.js';
import { escapePart, LeaseKeys } from './keys.js';
import { RedisInstants } from './redis-instants.js';
import { readAcquire, readRecord, readRenew } from './replies.js';
import { ScriptCalls, type Asked } from './script-calls.js';
import { acquireScript } from './scripts/acquire.script.js';
import { forceReleaseScript } from './scripts/force-release.script.js';
import { inspectScript } from './scripts/inspect.script.js';
import type { LeaseScript } from './scripts/lease-script.js';
import { releaseScript } from './scripts/release.script.js';
import { renewScript } from './scripts/renew.script.js';
import { toStoreError } from './redis-errors.js';
import { Turn } from './turn.js';

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
  readonly capabilities: StoreCapabilities = { name: 'redis', shared: true, clock: 'server', wakeUp: 'poll', fifo: false };
  readonly instants: InstantStore;
  private readonly keys: LeaseKeys;
  private readonly retention: readonly number[];
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
    const plan = planConnection('connection' in options ? options.connection : DEFAULT_CONNECTION);
    this.keys = new LeaseKeys(namespace);
    this.retention = [fenceRetentionMs];
    this.connection = new RedisConnection(plan, clock, patienceMs);
    this.calls = new ScriptCalls(this.connection);
    this.instants = new RedisInstants(this.keys, this.calls, this.retention);
    this.turn = new Turn(
      (asked) => this.calls.send(releaseScript, this.retention, asked),
      (asked) => this.calls.send(acquireScript, this.retention, asked),
    );
  }

  acquire(request: AcquireRequest): Promise<Granted | Busy> {
    return new Promise((resolve, reject) => {
      const { holderId, holderTag, holder, ttlMs, floor = 0 } = request;
      const keys = this.keys.of(request.key);
      this.turn.acquire(keys[0], {
        keys,
        args: [escapePart(holderId), ttlMs, floor, `${escapePart(holderTag)} ${holder}`],
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
        const keys = this.keys.of(key);
        return {
          keys,
          args: [escapePart(holderId), ttlMs, fencingToken],
          settle: (reply, time) => put(i, readRenew(reply, keys[0], time)),
          fail: (error) => put(i, { kind: 'unknown', error }, error),
        };
      });
      this.calls.send(renewScript, this.retention, asked);
    });
  }

  release({ key, holderId, fencingToken }: ReleaseRequest): Promise<ReleaseResult> {
    return this.end(key, holderId, fencingToken);
  }

  async leave({ key, holderId }: LeaveRequest): Promise<void> {
    await this.end(key, holderId, 0);
  }

  inspect(key: string): Promise<LeaseRecord | undefined> {
    return this.ask(inspectScript, [], key, 1);
  }

  forceRelease(key: string): Promise<LeaseRecord | undefined> {
    return this.ask(forceReleaseScript, this.retention, key, 2);
  }

  async ping(): Promise<void> {
    await this.connection.run((client) => client.ping()).catch((error: unknown) => Promise.reject(toStoreError(error)));
  }

  unanswered(): void {
    this.connection.unanswered();
  }

  /** Waiters of this store poll: the listener is never called. */
  onWake(): StoreSubscription {
    return { unsubscribe: () => undefined };
  }

  /** Closes the connection that this store has made; a client that was handed to it stays as it is. */
  close(): Promise<void> {
    this.connection.close();
    return Promise.resolve();
  }

  private end(key: string, holderId: string, token: number): Promise<ReleaseResult> {
    return new Promise((resolve, reject) => {
      const keys = this.keys.of(key);
      this.turn.release(keys[0], {
        keys,
        args: [escapePart(holderId), token],
        settle: (reply) => resolve({ kind: reply === 1 ? 'released' : 'not-held' }),
        fail: reject,
      });
    });
  }

  private ask(script: LeaseScript, shared: readonly number[], key: string, keyCount: number): Promise<LeaseRecord | undefined> {
    return new Promise((resolve, reject) => {
      const keys = this.keys.of(key);
      const settle = (reply: unknown): void => resolve(readRecord(reply, key, keys[0]));
      this.calls.send(script, shared, [{ keys: keys.slice(0, keyCount), args: [], settle, fail: reject }]);
    });
  }
}
