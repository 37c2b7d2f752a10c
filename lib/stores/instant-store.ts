/**
 * The part of the store port that scheduled jobs need: it remembers which instants of a job have been run. The grant of the
 * lease and the record of the instant are one atomic step, and so are the end of the run and the release. All decisions are
 * made by the store's own clock; what is remembered of a job ends by itself, `lifeMs` after its last use.
 */
export interface InstantStore {
  /**
   * Asks for the run of one instant. Idempotent by `holderId`: asked again by the same holder, the same instant is granted
   * again. An instant later than the store's clock is answered (`early`) without looking further, so it also tells the time.
   * @throws StoreError
   */
  begin(request: BeginRequest): Promise<BeginReply>;
  /** Writes how the run of this holder ended, if it is the one recorded, and ends its lease. Safe to repeat. @throws StoreError */
  finish(request: FinishRequest): Promise<FinishReply>;
  /** What is remembered of a job: at most its last 100 runs, newest first. @throws StoreError */
  history(key: string): Promise<readonly RunRecord[]>;
}

/**
 * Why an instant is asked for. `due`: the replica was up when it came. `make-up`: the replica has just come up, and an instant
 * that nobody ran may be run now, unless the job is new to the store. `look`: as `make-up`, but an instant that nobody asked for stays unrun.
 */
export type BeginPurpose = 'due' | 'make-up' | 'look';

/** One try to run one instant of a job. */
export interface BeginRequest {
  /** The key of the job's lease. */
  readonly key: string;
  /** Random for each instant asked for; proves ownership; secret. */
  readonly holderId: string;
  /** Short hash of `holderId`, shown to others. */
  readonly holderTag: string;
  /** How the process describes itself to operators. */
  readonly holder: string;
  readonly ttlMs: number;
  /** The token granted must be higher than this. */
  readonly floor?: number;
  /** The instant, in milliseconds since the epoch. */
  readonly instant: number;
  /** Expression and zone in a normal form: replicas that differ are told. */
  readonly schedule: string;
  /** How long the record is kept, in milliseconds. Instants older than half of it are `done`. */
  readonly lifeMs: number;
  readonly purpose: BeginPurpose;
  /** A run of this very instant that has crashed may be run once more. */
  readonly rerun: boolean;
}

/** Somebody who holds, or held. */
export interface InstantHolder {
  readonly holder: string;
  readonly holderTag: string;
  readonly fencingToken: number;
}

interface Told {
  /** The store's clock when it decided, in milliseconds since the epoch. */
  readonly serverTimeMs: number;
  /** The schedule that another replica wrote down for this job, where it is not the one of the request. */
  readonly otherSchedule?: string;
}

/** The instant is ours to run. */
export interface InstantGranted extends Told {
  readonly kind: 'granted';
  readonly fencingToken: number;
  readonly ttlMs: number;
  /** The newest instant that was decided before this one. */
  readonly previous?: number;
  /** The run before this one, of the same instant, has crashed. */
  readonly rerun: boolean;
}
/** The instant has not come yet by the store's clock. */
export interface InstantEarly extends Told {
  readonly kind: 'early';
  readonly inMs: number;
}
/** Another replica runs this instant now. */
export interface InstantRunning extends Told, InstantHolder {
  readonly kind: 'running';
  /** Until its lease ends if nobody renews it. */
  readonly remainingMs: number;
}
/** The lease was held when the instant came (by the run of an earlier instant, say), so this instant is not run; told to one replica only. */
export interface InstantMissed extends Told, InstantHolder {
  readonly kind: 'missed';
  readonly remainingMs: number;
  /** How many instants the present run has cost so far, this one included. */
  readonly missed: number;
}
/** The instant has been decided before; nothing is to be done. */
export interface InstantDone extends Told {
  readonly kind: 'done';
  /** How, as far as it is remembered. */
  readonly state: DecidedState;
  /** Who ran it, as far as it is remembered. */
  readonly by?: InstantHolder;
}

/** The answer to {@link InstantStore.begin}. */
export type BeginReply = InstantGranted | InstantEarly | InstantRunning | InstantMissed | InstantDone;

/** How a run ended. `interrupted`: its lease was lost on the way. `unstarted`: it was granted, but its body never began. */
export type RunOutcome = 'ok' | 'failed' | 'interrupted' | 'unstarted';
/** `crashed`: its lease ended and nobody said how the run ended. */
export type RunState = RunOutcome | 'running' | 'crashed';
/** `missed`: the lease was held when it came. `skipped`: nobody was there. `past`: older than the last one that was decided, or than what is remembered. `new`: the job is new to the store. */
export type DecidedState = Exclude<RunState, 'running' | 'unstarted'> | 'missed' | 'skipped' | 'past' | 'new';

/** How the run ended. */
export interface FinishRequest {
  readonly key: string;
  readonly holderId: string;
  readonly fencingToken: number;
  readonly outcome: RunOutcome;
  /** The lease stays taken (`cooldown`) until so long after the grant; not after `unstarted`. 0: it is free at once. */
  readonly atLeastForMs: number;
  /** How long the record is kept from now on. */
  readonly lifeMs: number;
}

/** `not-held`: the lease had ended, or another holder has it; how the run ended was written nevertheless, where nobody else has run since. */
export interface FinishReply {
  readonly kind: 'released' | 'not-held';
}

/** One run of a scheduled job. Times are milliseconds since the epoch, by the store's clock. */
export interface RunRecord extends InstantHolder {
  /** Which instant of the schedule it ran. */
  readonly instant: number;
  readonly state: RunState;
  readonly started: number;
  /** Left out while it runs, and after a crash. */
  readonly ended?: number;
  /** Instants that came while this run (or what held the lease after it) was not over, and so were not run. */
  readonly missed: number;
}
