import type {
  BeginPurpose,
  InstantDone,
  InstantEarly,
  InstantGranted,
  InstantMissed,
  InstantRunning,
  RunOutcome,
} from '../stores/instant-store.js';
import type { StoreError } from '../stores/lease-store.js';
import type { Clock } from '../time/clock.js';
import type { LeaseEvents } from '../events/lease-events.js';
import type { Lease } from './lease.js';

/** One instant of a scheduled job that is to be run, by somebody of the fleet. All times in milliseconds. */
export interface InstantRequest {
  /** The key of the job's lease. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly instant: number;
  /** Expression and zone in a normal form. */
  readonly schedule: string;
  /** How long the store remembers the job. */
  readonly lifeMs: number;
  readonly purpose: BeginPurpose;
  /** A crashed run of this instant may be run once more. */
  readonly rerun: boolean;
  readonly ttlMs: number;
  readonly maxHoldMs?: number | undefined;
  /** The lease is kept until so long after the grant. */
  readonly atLeastForMs: number;
  /** A store that does not answer is asked again for so long: until the next instant. */
  readonly patienceMs: number;
}

/** How the run goes, so far: what the release will write. A lost lease makes it `interrupted`, unless its body never began. */
export interface InstantRun {
  outcome: RunOutcome;
}

/** The instant is ours: the lease to run it under, and where to say how it went. */
export interface GrantedInstant extends InstantGranted {
  readonly lease: Lease;
  readonly run: InstantRun;
}

/** The store gave no answer until the next instant, or refuses to be asked. */
export interface UnavailableInstant {
  readonly kind: 'unavailable';
  readonly error: StoreError;
}

/** The application shuts down: nothing is begun any more. */
export interface StoppedInstant {
  readonly kind: 'stopped';
}

/** What became of an {@link InstantRequest}. */
export type InstantOutcome =
  GrantedInstant | InstantEarly | InstantRunning | InstantMissed | InstantDone | UnavailableInstant | StoppedInstant;

/** What scheduled jobs ask of one lease service; `getScheduledRunsToken(service)` resolves to it. */
export interface ScheduledRunsPort {
  readonly clock: Clock;
  readonly events: LeaseEvents;
  /** The ttl of a job that gives none. */
  readonly ttlMs: number;
  /** Which store it is, where that store cannot serve scheduled jobs. */
  readonly unsupported: string | undefined;
  /** The application shuts down: nothing is begun any more. */
  readonly stopping: boolean;
  /** The store's time now, as far as replies have told it. */
  now(): number | undefined;
  /** Asks the store what time it is, for the job of this key. @throws what the store rejects with */
  ask(key: string): Promise<void>;
  begin(request: InstantRequest): Promise<InstantOutcome>;
  /** Runs `fn` outside the async context of the caller, in which timers and runs must not live on. */
  outside<T>(fn: () => T): T;
}
