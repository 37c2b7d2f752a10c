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
  | ServerClockBackEvent;

/** The name of an event: what `LeaseEvents.on` takes. */
export type LeaseEventType = LeaseEvent['type'];
/** The event of one type. */
export type LeaseEventOf<T extends LeaseEventType> = Extract<LeaseEvent, { type: T }>;
