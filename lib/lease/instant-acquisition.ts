import type { BeginReply, BeginRequest, FinishRequest, InstantGranted, InstantStore } from '../stores/instant-store.js';
import { StoreError } from '../stores/lease-store.js';
import { toStoreError } from '../stores/to-store-error.js';
import { backoffMs } from '../time/backoff.js';
import type { EngineParts } from './engine-parts.js';
import { holderTagOf, newHolderId } from './holder-id.js';
import type { GiveBack } from './lease-core.js';
import { leaseHandle } from './lease.js';
import { onAbort } from './on-abort.js';
import type { InstantOutcome, InstantRequest, InstantRun } from './scheduled-instant.js';
import { callLimitMs, withTimeLimit } from './time-limit.js';
import { Validity, type Stamp } from './validity.js';

/** A run that never began is taken back for so long at least, though its lease may be over: until then it looks like a crash. */
const TAKE_BACK_MS = 60_000;

/**
 * The attempt to run one instant. A store that gives no answer is asked again by the same holderId, so that a lost reply never
 * eats the instant; what is given up is taken back as `unstarted`.
 */
export class InstantAcquisition {
  private readonly begin: BeginRequest;
  private readonly startedAt: number;
  private readonly limitMs: number;
  /** Requests without an answer: each may yet be carried out. */
  private readonly uncertain = new Set<Promise<unknown>>();

  constructor(
    private readonly engine: EngineParts,
    private readonly instants: InstantStore,
    private readonly request: InstantRequest,
    private readonly stop: AbortSignal,
  ) {
    const { key, ttlMs, instant, schedule, lifeMs, purpose, rerun } = request;
    const holderId = newHolderId();
    const floor = engine.floors.of(key, undefined);
    this.startedAt = engine.clock.monotonic();
    this.limitMs = callLimitMs(ttlMs, engine.defaults.commandTimeoutMs);
    this.begin = {
      ...{ key, holderId, holderTag: holderTagOf(holderId), holder: engine.holder },
      ...{ ttlMs, instant, schedule, lifeMs, purpose, rerun },
      ...(floor === undefined ? {} : { floor }),
    };
  }

  /** Never rejects. */
  async run(): Promise<InstantOutcome> {
    for (let failures = 0; ; failures++) {
      const outcome = await this.attempt();
      if (!(outcome instanceof StoreError)) return outcome;
      const leftMs = this.startedAt + this.request.patienceMs - this.engine.clock.monotonic();
      if (!this.stop.aborted && outcome.kind === 'transient' && leftMs > 0)
        await this.pause(Math.min(leftMs, (outcome.retryAfterMs ?? 0) + backoffMs(failures, 50, 1000)));
      else if (!this.stop.aborted) return this.giveUp({ kind: 'unavailable', error: outcome });
      if (this.stop.aborted) return this.giveUp({ kind: 'stopped' });
    }
  }

  private async attempt(): Promise<InstantOutcome | StoreError> {
    const { engine, begin } = this;
    const sent = engine.stamper.stamp();
    const call = engine.outside(() => this.instants.begin(begin));
    this.uncertain.add(call);
    try {
      const reply = await withTimeLimit(engine.clock, this.limitMs, call, () => engine.store.unanswered?.());
      this.uncertain.delete(call);
      engine.serverTime.saw(reply.serverTimeMs, sent.mono);
      if ('fencingToken' in reply) engine.floors.saw(begin.key, reply.fencingToken);
      return reply.kind === 'granted' ? this.granted(reply, sent) : (reply satisfies Exclude<BeginReply, InstantGranted>);
    } catch (error) {
      const reason = toStoreError(error);
      if (reason.kind !== 'transient' || reason.notSent) this.uncertain.delete(call);
      return reason;
    }
  }

  /** An answer that came when the lease was as good as over is no lease; asked again, the store grants it anew. */
  private granted(reply: InstantGranted, sent: Stamp): InstantOutcome | StoreError {
    const { engine, begin, request } = this;
    if (new Validity(engine.clock, sent, reply.ttlMs).judge() !== 'held') {
      this.uncertain.add(Promise.resolve());
      return new StoreError('transient', `the answer took most of the ttl of ${String(reply.ttlMs)} ms; a longer ttl leaves it time`);
    }
    const run: InstantRun = { outcome: 'unstarted' };
    const { key, holderId, holderTag } = begin;
    const { fencingToken, ttlMs } = reply;
    const giveBack = this.giveBack(fencingToken, () => (run.outcome !== 'unstarted' && lost() ? 'interrupted' : run.outcome));
    const grant = { key, holderId, holderTag, fencingToken, ttlMs, sent, maxHoldMs: request.maxHoldMs, giveBack };
    const lease = engine.hold(grant, Math.round(engine.clock.monotonic() - this.startedAt));
    const lost = (): boolean => leaseHandle(lease).core.lost !== undefined;
    return { ...reply, lease, run };
  }

  /** The release of this lease also writes how the run ended; repeated, it says the same again. */
  private giveBack(fencingToken: number, outcomeNow: () => InstantRun['outcome']): GiveBack {
    let decided: FinishRequest | undefined;
    const finish = (): Promise<{ kind: 'released' | 'not-held' }> => {
      decided ??= this.finishRequest(fencingToken, outcomeNow());
      return this.instants.finish(decided);
    };
    return { release: finish, again: finish };
  }

  private giveUp(outcome: InstantOutcome): InstantOutcome {
    if (this.uncertain.size === 0) return outcome;
    const { key, holderId, holderTag, ttlMs } = this.begin;
    this.engine.undoer.undo({
      ...{ key, holderId, holderTag, limitMs: this.limitMs, ttlMs: Math.max(ttlMs, TAKE_BACK_MS) },
      pending: Promise.allSettled(this.uncertain),
      takeBack: () => this.instants.finish(this.finishRequest(0, 'unstarted')),
    });
    return outcome;
  }

  private finishRequest(fencingToken: number, outcome: InstantRun['outcome']): FinishRequest {
    const { key, holderId, lifeMs } = this.begin;
    return { key, holderId, fencingToken, outcome, atLeastForMs: this.request.atLeastForMs, lifeMs };
  }

  /** Ends early when the application shuts down. */
  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        ended();
        resolve();
      };
      const timer = this.engine.clock.setTimer(end, ms);
      const ended = onAbort(this.stop, end);
    });
  }
}
