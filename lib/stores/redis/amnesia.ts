import type { Clock } from '../../time/clock.js';
import { StoreError, type AmnesiaNotice } from '../lease-store.js';
import type { Notices } from './notices.js';
import type { ServerInfo } from './server-info.js';

/** A server as it was on its last connection. */
interface Known {
  readonly runId: string;
  readonly replicationId: string;
  /** When its last connection ended, by our monotonic clock; `undefined` while there is one. */
  leftAt: number | undefined;
}

/** Uptimes are the difference of two times in whole seconds: up to so much too long, or too short. */
const UPTIME_STEP_MS = 1000;

/**
 * Notices servers that may have forgotten leases, and keeps their grants waiting while a forgotten holder may still be at work,
 * where a guard was asked for. A restart always breaks the connection, so it is enough to look at each new one, before anything
 * else is sent on it. What cannot be seen: FLUSHALL, a restart behind a proxy that keeps our connection, and what happened before
 * this process began, but for an uptime that is shorter than the guard.
 */
export class Amnesia {
  private readonly known = new Map<string, Known>();
  private readonly pausedUntil = new Map<string, number>();
  private blindness: string | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly notices: Notices,
    /** The longest ttl of the fleet, or `undefined` for no guard. */
    private readonly guardMs: number | undefined,
  ) {}

  /** Whether grants depend on what is seen here. */
  get isGuarded(): boolean {
    return this.guardMs !== undefined;
  }

  /** A new connection to the primary at `address`, which is called `server` in messages. */
  saw(address: string, server: string, info: ServerInfo): void {
    this.blindness = undefined;
    // Another name for the primary of one address says nothing; a node of a Cluster may be promoted with its connection open.
    if (!info.isPrimary && address === '') return;
    const before = this.known.get(address);
    const reason = info.isPrimary ? this.reasonOf(before, info) : undefined;
    this.known.set(address, { runId: info.runId, replicationId: info.replicationId, leftAt: undefined });
    if (reason === undefined) return;
    const { uptimeMs } = info;
    // Who followed another history may have missed what was granted a moment ago; a restart forgets what was granted before it.
    const fresh = reason === 'replaced' || info.formerReplicationId !== undefined;
    const pastMs = fresh && reason !== 'started' ? 0 : Math.max(0, uptimeMs - UPTIME_STEP_MS);
    const pauseMs = Math.max(0, (this.guardMs ?? 0) - pastMs);
    const until = Math.max(this.pausedUntil.get(address) ?? -Infinity, this.clock.monotonic() + pauseMs);
    this.pausedUntil.set(address, until);
    this.notices.amnesia({ server, reason, uptimeMs, pauseMs });
  }

  /** A connection to it has ended. */
  left(address: string): void {
    const known = this.known.get(address);
    if (known) known.leftAt ??= this.clock.monotonic();
  }

  /** The server does not say who it is; `why` is a sentence without its full stop. */
  cannotSee(why: string): void {
    this.blindness = why;
  }

  /** Why nothing is granted there now, if so. */
  refusal(address: string): StoreError | undefined {
    if (this.guardMs === undefined) return undefined;
    if (this.blindness !== undefined) {
      const message = `${this.blindness}, so "amnesiaGuard" cannot do its work: allow INFO to this user, or leave the option out`;
      return new StoreError('fatal', message, { notSent: true });
    }
    const restMs = (this.pausedUntil.get(address) ?? -Infinity) - this.clock.monotonic();
    if (restMs <= 0) return undefined;
    const message =
      'Redis may have forgotten who held this lease, so nothing is granted until the longest ttl is over ' +
      `("amnesiaGuard", ${String(Math.ceil(restMs))} ms to go)`;
    return new StoreError('transient', message, { retryAfterMs: restMs, notSent: true });
  }

  private reasonOf(before: Known | undefined, info: ServerInfo): AmnesiaNotice['reason'] | undefined {
    const { runId, replicationId, formerReplicationId, uptimeMs } = info;
    if (before === undefined) {
      // In a Cluster the primary that it followed had another address.
      if (formerReplicationId !== undefined && this.follows(formerReplicationId)) return 'promoted';
      return this.guardMs !== undefined && uptimeMs - UPTIME_STEP_MS < this.guardMs ? 'started' : undefined;
    }
    const followed = formerReplicationId !== undefined && before.replicationId !== replicationId;
    // A lone primary begins a new history, without a former one, when its last replica has been away for long: nothing was lost.
    if (before.runId === runId) return followed ? 'promoted' : undefined;
    const awayMs = before.leftAt === undefined ? 0 : this.clock.monotonic() - before.leftAt;
    if (uptimeMs < awayMs + UPTIME_STEP_MS) return 'restarted';
    return followed ? 'promoted' : 'replaced';
  }

  private follows(history: string): boolean {
    for (const { replicationId } of this.known.values()) if (replicationId === history) return true;
    return false;
  }
}
