/** What every event carries. Times are in milliseconds. */
interface About {
  readonly key: string;
  readonly fencingToken: number;
}

/** A lease was acquired. */
export interface AcquiredEvent extends About {
  readonly type: 'acquired';
  readonly ttlMs: number;
  /** From the call to the grant. */
  readonly waitedMs: number;
}
/** A call was refused, or its wait ran out, since another holder has the lease. */
export interface BusyEvent {
  readonly type: 'busy';
  readonly key: string;
  readonly fencingToken?: number;
  readonly holder?: string;
  readonly waitedMs: number;
  readonly retryAfterMs?: number;
}
/** A renewal went unanswered or failed; it is tried again until the soft deadline. */
export interface JeopardyEvent extends About {
  readonly type: 'jeopardy';
  readonly remainingMs: number;
  readonly error?: unknown;
}
/** The lease is lost; final. */
export interface LostEvent extends About {
  readonly type: 'lost';
  readonly reason: string;
  readonly heldMs: number;
}
/** The lease ended well. */
export interface ReleasedEvent extends About {
  readonly type: 'released';
  readonly heldMs: number;
}
/** The release could not be confirmed, or found the lease gone; the key ends with its ttl at the latest. */
export interface ReleaseFailedEvent extends About {
  readonly type: 'release-failed';
  readonly error?: unknown;
  readonly detail: string;
}
/** At shutdown a handler had not settled when grace and abort were over; its lease is left to its ttl. */
export interface UnsettledEvent extends About {
  readonly type: 'unsettled';
  readonly heldMs: number;
}
/** The event loop stood still for so long that renewals were in danger. */
export interface StalledEvent {
  readonly type: 'stalled';
  readonly stalledMs: number;
  /** The shortest ttl among the leases held. */
  readonly ttlMs: number;
  /** A ttl that would have survived the stall without danger. */
  readonly safeTtlMs: number;
}
/** The store's clock went back. */
export interface ServerClockBackEvent {
  readonly type: 'server-clock-back';
  readonly byMs: number;
}
/**
 * A server behind the store may have forgotten leases: it `restarted`; a replica was `promoted`, which may have missed the last
 * writes; it was `replaced` by one that ran before; or it was `started` so lately that leases from before may still be held.
 */
export interface AmnesiaEvent {
  readonly type: 'amnesia';
  /** Its address. */
  readonly server: string;
  readonly reason: 'restarted' | 'promoted' | 'replaced' | 'started';
  /** How long it has been up, by its own clock. */
  readonly uptimeMs: number;
  /** For so long from now this process grants no lease of that server: the rest of `amnesiaGuard`, or 0 without it. */
  readonly pauseMs: number;
}

/** What every event of a scheduled job carries. */
interface AboutInstant {
  /** The key of its lease: `cron:<name>`. */
  readonly key: string;
  /** The instant, in milliseconds since the epoch. */
  readonly instant: number;
}
/** An instant of a scheduled job is, or was, run by another replica, or was decided before: the ordinary case on all replicas but one. */
export interface SkippedEvent extends AboutInstant {
  readonly type: 'skipped';
  readonly fencingToken?: number;
  readonly holder?: string;
  /** `running`, or how the run ended (`ok`, `failed`, `interrupted`, `crashed`), or why there was none. */
  readonly state: string;
}
/** A scheduled run failed: its handler threw, or its lease was lost. The error is logged once, and the next instant runs. */
export interface RunFailedEvent extends AboutInstant {
  readonly type: 'run-failed';
  readonly fencingToken: number;
  readonly error: unknown;
  readonly heldMs: number;
}
/** Instants of a scheduled job that are run by nobody; told by one replica. */
export interface InstantMissedEvent extends AboutInstant {
  readonly type: 'instant-missed';
  /** `held`: the lease was taken when it came, by a run that is longer than the period, say. `down`: nobody was there. */
  readonly reason: 'held' | 'down';
  /** `held`: what the present run has cost so far, this one included; `down`: how many in a row, the last of which is `instant`. At most 1,000 are counted. */
  readonly missed: number;
  readonly fencingToken?: number;
  readonly holder?: string;
}
/** The store could not be asked until the next instant came: this replica runs this one not. */
export interface InstantUnavailableEvent extends AboutInstant {
  readonly type: 'instant-unavailable';
  readonly error: unknown;
}
/** Another replica has another expression or zone under the same name; told once for each other schedule. */
export interface ScheduleMismatchEvent {
  readonly type: 'schedule-mismatch';
  readonly key: string;
  readonly ours: string;
  readonly theirs: string;
}

/** The closed list of what a lease tells about itself. */
export type LeaseEvent =
  | AcquiredEvent
  | BusyEvent
  | JeopardyEvent
  | LostEvent
  | ReleasedEvent
  | ReleaseFailedEvent
  | UnsettledEvent
  | StalledEvent
  | ServerClockBackEvent
  | AmnesiaEvent
  | SkippedEvent
  | RunFailedEvent
  | InstantMissedEvent
  | InstantUnavailableEvent
  | ScheduleMismatchEvent;

/** The name of an event: what `LeaseEvents.on` takes. */
export type LeaseEventType = LeaseEvent['type'];
/** The event of one type. */
export type LeaseEventOf<T extends LeaseEventType> = Extract<LeaseEvent, { type: T }>;
