import type { Clock } from '../../time/clock.js';
import { StoreError } from '../lease-store.js';
import type { RedisClient } from './redis-client.js';
import { isRefused, messageOf } from './redis-errors.js';
import type { RedisDurability } from './redis-store-options.js';
import { readHistory } from './server-info.js';
import { parametersOf, type Asked } from './script-calls.js';
import type { LeaseScript } from './scripts/lease-script.js';

/** One call of a script that may grant leases. */
export interface GrantCall {
  readonly script: LeaseScript;
  readonly shared: readonly (string | number)[];
  readonly asked: readonly Asked[];
}

/** What came of a {@link GrantCall}: the reply of the script, and why its grants do not count, if so. */
export interface GrantOutcome {
  readonly reply: unknown;
  readonly shortfall: StoreError | undefined;
}

/** How a lane knows that the server is still the one that was greeted. */
export interface GrantHistory {
  /** The replication history that was greeted; `undefined`: not asked for. */
  known(): string | undefined;
  /** Another one has come over this connection. */
  changed(): void;
}

interface Entry extends GrantCall {
  resolve(outcome: GrantOutcome): void;
  reject(error: unknown): void;
}

type Replies = readonly [error: unknown, reply: unknown][];

/** The marker only has to be written; it ends by itself. */
const MARKER_MS = 1000;
/** Calls that travel together at most: while replicas hang, all that comes meanwhile should go with the next. */
const MOST_TOGETHER = 1000;
/** An answer may take so much longer than the WAIT before it counts as missing. */
const GRACE_MS = 250;
/** A call may have to wait for the one before it: both, and the way there and back, within a sixth of the ttl. */
const TTL_SHARE = 14;

/**
 * The grants of one connection, each with the WAIT for its replicas in the same pipeline: WAIT counts what was written on its own
 * connection, and holds up all that is sent there after it. So there is one pipeline under way at a time, and what is asked
 * meanwhile travels with the next. It begins with the write of a marker, since a grant that is asked for again may write nothing.
 * With a guard against amnesia, it also asks for the history of the server, since a promotion in a Cluster breaks no connection.
 */
export class GrantLane {
  private readonly queue: Entry[] = [];
  private busy = false;
  /** Until when an answer may be under way. */
  private waitsUntil = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly node: RedisClient,
    private readonly durability: Required<RedisDurability> | undefined,
    /** Of all keys, where the client does not put it there by itself. */
    private readonly prefix: string,
    private readonly history: GrantHistory,
    /** Asked just before a pipeline leaves: why it may not. */
    private readonly refusal: () => StoreError | undefined,
  ) {}

  /** Replicas are waited for: that nothing is answered says nothing about the connection. */
  get isPatient(): boolean {
    return this.busy && this.clock.monotonic() < this.waitsUntil;
  }

  /** Rejects with what Redis or the connection says of this call, or with why it may not be sent. */
  send(call: GrantCall): Promise<GrantOutcome> {
    return new Promise((resolve, reject) => {
      this.queue.push({ ...call, resolve, reject });
      if (!this.busy) void this.pump();
    });
  }

  private async pump(): Promise<void> {
    this.busy = true;
    while (this.queue.length > 0) {
      const entries = this.queue.splice(0, MOST_TOGETHER);
      const refusal = this.refusal();
      if (refusal) for (const entry of entries) entry.reject(refusal);
      else await this.exchange(entries, 'evalsha');
    }
    this.busy = false;
  }

  private async exchange(entries: readonly Entry[], by: 'evalsha' | 'eval'): Promise<void> {
    const known = this.history.known();
    const marker = this.durability ? [['set', this.prefix + markerOf(entries), '1', 'PX', MARKER_MS]] : [];
    const before = known === undefined ? marker : [...marker, ['info', 'replication']];
    const limitMs = this.durability ? this.limitMs(entries, this.durability.timeoutMs) : 0;
    const after = this.durability ? [['wait', this.durability.replicas, limitMs]] : [];
    this.waitsUntil = this.clock.monotonic() + limitMs + GRACE_MS;
    const commands = [...before, ...entries.map((entry) => this.commandOf(entry, by)), ...after];
    let replies: Replies;
    try {
      replies = (await this.node.pipeline(commands).exec()) ?? [];
    } catch (error) {
      for (const entry of entries) entry.reject(error);
      return;
    }
    const shortfall =
      this.strangerIn(replies[before.length - 1], known) ?? (this.durability && shortfallOf(replies, this.durability.replicas));
    const unknown: Entry[] = [];
    entries.forEach((entry, i) => {
      const [error, reply] = replies[before.length + i] ?? [new Error('Connection is closed.')];
      if (!error) entry.resolve({ reply, shortfall });
      else if (by === 'evalsha' && messageOf(error).includes('NOSCRIPT')) unknown.push(entry);
      else entry.reject(error);
    });
    if (unknown.length > 0) await this.exchange(unknown, 'eval');
  }

  /** Why grants of another history do not count. */
  private strangerIn([error, reply]: readonly [unknown?, unknown?] = [], known: string | undefined): StoreError | undefined {
    if (known === undefined || (!error && readHistory(reply) === known)) return undefined;
    this.history.changed();
    return new StoreError('transient', 'another Redis server has taken over', { cause: error });
  }

  private commandOf({ script, shared, asked }: GrantCall, by: 'evalsha' | 'eval'): (string | number)[] {
    const { keys, args } = parametersOf(shared, asked);
    for (let i = 0; i < keys; i++) args[i] = this.prefix + String(args[i]);
    return [by, by === 'evalsha' ? script.sha : script.lua, keys, ...args];
  }

  private limitMs(entries: readonly Entry[], mostMs: number): number {
    let limit = mostMs;
    for (const { asked } of entries) for (const { ttlMs = Infinity } of asked) limit = Math.min(limit, ttlMs / TTL_SHARE);
    return Math.max(1, Math.floor(limit));
  }
}

/** In the slot of a lease that is asked for, and never a key of that lease. */
function markerOf([first]: readonly Entry[]): string {
  return `${first?.asked[0]?.keys[0] ?? ''}:mark`;
}

/** Why the grants of a pipeline do not count: the first reply is that of the marker, the last that of WAIT. */
function shortfallOf(replies: Replies, required: number): StoreError | undefined {
  const [unmarked] = replies[0] ?? [];
  const [unwaited, confirmed] = replies[replies.length - 1] ?? [];
  const error = unmarked ?? unwaited;
  const count = error ? 0 : Number(confirmed);
  if (!error && count >= required) return undefined;
  const told = error ? ` (${messageOf(error)})` : '';
  const why = isRefused(error)
    ? `Redis refuses WAIT${told}, so whether replicas have it is not known: leave "durability" out, or allow the command to this user`
    : `${String(count)} of the ${String(required)} replicas that "durability" asks for confirmed it in time${told}`;
  return new StoreError('transient', why, { cause: error, replicas: { confirmed: count, required } });
}
