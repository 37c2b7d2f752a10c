import type {
  BeginReply,
  BeginRequest,
  FinishReply,
  FinishRequest,
  InstantDone,
  InstantGranted,
  InstantHolder,
  InstantStore,
  RunRecord,
  RunState,
} from '../instant-store.js';
import { ExpiringMap, type Expiring } from './expiring-map.js';
import type { HeldLease } from './held-lease.js';

/** What the instants of a job ask of the leases around them. */
export interface LeaseTable {
  now(): number;
  held(key: string, now: number): HeldLease | undefined;
  /** Grants the lease, or, to its holder, the full ttl again. Gives the token. */
  grant(request: BeginRequest, now: number): number;
  /** Ends the lease of this holder, or leaves it taken for `cooldownMs`. True when it was its holder's. */
  end(request: FinishRequest, cooldownMs: number, now: number): boolean;
  remainingMs(lease: HeldLease, now: number): number;
}

/** Runs that are remembered of one job. */
const MOST_RUNS = 100;

/** A run, and who may say how it ended. */
interface Run extends RunRecord {
  readonly holderId: string;
}

interface JobRecord extends Expiring {
  /** The newest instant that was decided. */
  readonly last: number;
  readonly schedule: string;
  /** Newest first; the first is the current one. */
  readonly runs: readonly Run[];
}

/** The instants of scheduled jobs, with the rules of the Redis store. */
export class MemoryInstants implements InstantStore {
  private readonly records = new ExpiringMap<JobRecord>();

  constructor(private readonly table: LeaseTable) {}

  async begin(request: BeginRequest): Promise<BeginReply> {
    await Promise.resolve();
    const now = this.table.now();
    const record = this.records.get(request.key, now);
    const other = record && record.schedule !== request.schedule ? { otherSchedule: record.schedule } : {};
    return { ...this.decide(request, record, now), serverTimeMs: now, ...other };
  }

  async finish(request: FinishRequest): Promise<FinishReply> {
    await Promise.resolve();
    const { key, holderId, outcome, atLeastForMs, lifeMs } = request;
    const now = this.table.now();
    const record = this.records.get(key, now);
    const run = record?.runs[0];
    if (record && run?.holderId === holderId && run.state === 'running') {
      const ended = { ...run, state: outcome, ended: now };
      this.records.set(key, { ...record, runs: [ended, ...record.runs.slice(1)], expiresAt: now + lifeMs }, now);
    }
    const since = this.table.held(key, now)?.since ?? now;
    const cooldownMs = outcome === 'unstarted' ? 0 : Math.max(0, since + atLeastForMs - now);
    return { kind: this.table.end(request, cooldownMs, now) ? 'released' : 'not-held' };
  }

  async history(key: string): Promise<readonly RunRecord[]> {
    await Promise.resolve();
    const now = this.table.now();
    const runs = this.records.get(key, now)?.runs ?? [];
    const heldBy = this.table.held(key, now)?.holderId;
    return runs.map(({ holderId, ...run }) => ({ ...run, state: stateOf(run.state, heldBy === holderId) }));
  }

  private decide(request: BeginRequest, record: JobRecord | undefined, now: number): Decision {
    const { key, holderId, instant, lifeMs, purpose } = request;
    if (instant > now) return { kind: 'early', inMs: instant - now };
    const lease = this.table.held(key, now);
    const run = record?.runs[0];
    const mine = run?.instant === instant && run.state === 'running' && run.holderId === holderId;
    if (!mine) {
      const decided = this.decidedBefore(request, record, lease, now);
      if (decided) return decided;
      if (record === undefined && purpose !== 'due') return this.enter(request, now);
      if (purpose === 'look' && record && instant > record.last) return { kind: 'done', state: 'skipped' };
      if (instant < now - lifeMs / 2) return { kind: 'done', state: 'past' };
    }
    if (lease && lease.holderId !== holderId) return this.refuse(request, record, lease, now);
    return this.grant(request, record, now);
  }

  private decidedBefore(
    { instant, rerun }: BeginRequest,
    record: JobRecord | undefined,
    lease: HeldLease | undefined,
    now: number,
  ): Decision | undefined {
    if (record === undefined || instant > record.last) return undefined;
    const run = record.runs[0];
    if (instant < record.last) return { kind: 'done', state: 'past' };
    if (run?.instant !== instant) return { kind: 'done', state: 'missed' };
    if (run.state === 'unstarted') return undefined;
    if (run.state !== 'running') return { kind: 'done', state: run.state as InstantDone['state'], by: holderOf(run) };
    if (lease?.holderId === run.holderId) return { kind: 'running', ...holderOf(run), remainingMs: this.table.remainingMs(lease, now) };
    return rerun ? undefined : { kind: 'done', state: 'crashed', by: holderOf(run) };
  }

  /** A job that is seen for the first time: what lies before is not made up for. */
  private enter({ key, instant, schedule, lifeMs }: BeginRequest, now: number): Decision {
    this.records.set(key, { last: instant, schedule, runs: [], expiresAt: now + lifeMs }, now);
    return { kind: 'done', state: 'new' };
  }

  /** Somebody has the lease. An instant that was asked for before (unstarted, crashed) is looked at again later. */
  private refuse({ key, instant, schedule, lifeMs }: BeginRequest, record: JobRecord | undefined, lease: HeldLease, now: number): Decision {
    const by = { ...holderOf(lease), remainingMs: this.table.remainingMs(lease, now) };
    if (record?.last === instant) return { kind: 'running', ...by };
    const [run, ...older] = record?.runs ?? [];
    const missed = (run?.missed ?? 0) + 1;
    const runs = run ? [{ ...run, missed }, ...older] : [];
    this.records.set(key, { last: instant, schedule: record?.schedule ?? schedule, runs, expiresAt: now + lifeMs }, now);
    return { kind: 'missed', ...by, missed };
  }

  private grant(request: BeginRequest, record: JobRecord | undefined, now: number): Decision {
    const { key, holderId, holderTag, holder, instant, schedule, lifeMs, ttlMs } = request;
    const [run, ...older] = record?.runs ?? [];
    const fencingToken = this.table.grant(request, now);
    const again = run?.instant === instant && run.holderId === holderId && run.fencingToken === fencingToken;
    const rerun = run?.instant === instant && run.state === 'running' && run.holderId !== holderId;
    // What never began leaves no trace.
    const unbegun = run?.instant === instant && !rerun;
    const before = run === undefined || unbegun ? older : [{ ...run, state: stateOf(run.state, false) }, ...older];
    const begun: Run = { instant, state: 'running', started: now, missed: 0, holderId, holderTag, holder, fencingToken };
    const runs = again ? (record?.runs ?? []) : [begun, ...before].slice(0, MOST_RUNS);
    this.records.set(key, { last: instant, schedule, runs, expiresAt: now + lifeMs }, now);
    return { kind: 'granted', fencingToken, ttlMs, rerun, ...(record === undefined ? {} : { previous: record.last }) };
  }
}

type Without<T> = T extends unknown ? Omit<T, 'serverTimeMs' | 'otherSchedule'> : never;
type Decision = Without<BeginReply> | Omit<InstantGranted, 'serverTimeMs'>;

const stateOf = (state: RunState, held: boolean): RunState => (state === 'running' && !held ? 'crashed' : state);

function holderOf({ holder, holderTag, fencingToken }: InstantHolder): InstantHolder {
  return { holder, holderTag, fencingToken };
}
