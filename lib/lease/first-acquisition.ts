import type { FirstGranted, FirstRequest, JobStore } from '../stores/job-store.js';
import { StoreError } from '../stores/lease-store.js';
import { toStoreError } from '../stores/to-store-error.js';
import type { EngineParts } from './engine-parts.js';
import { holderTagOf, newHolderId } from './holder-id.js';
import type { ResolvedAcquireOptions } from './lease-options.js';
import type { Lease } from './lease.js';
import { refusalOf } from './refusal.js';
import { callLimitMs, withTimeLimit } from './time-limit.js';
import { Validity, type Stamp } from './validity.js';

/** One try to get the first of several leases that is free. */
export class FirstAcquisition {
  private readonly request: FirstRequest;
  private readonly limitMs: number;

  constructor(
    private readonly engine: EngineParts,
    private readonly jobs: JobStore,
    keys: readonly string[],
    private readonly options: ResolvedAcquireOptions,
  ) {
    const holderId = newHolderId();
    const candidates = keys.map((key) => {
      const floor = engine.floors.of(key, options.minToken);
      return floor === undefined ? { key } : { key, floor };
    });
    this.request = { candidates, holderId, holderTag: holderTagOf(holderId), holder: engine.holder, ttlMs: options.ttlMs };
    this.limitMs = callLimitMs(options.ttlMs, engine.defaults.commandTimeoutMs);
  }

  /** The lease, or `undefined` when none is free. @throws LeaseUnavailableError, LeaseNotDurableError */
  async once(): Promise<Lease | undefined> {
    const { engine } = this;
    const sent = engine.stamper.stamp();
    const call = engine.outside(() => this.jobs.acquireFirst(this.request));
    try {
      const reply = await withTimeLimit(engine.clock, this.limitMs, call, () => engine.store.unanswered?.());
      return reply.kind === 'granted' ? this.granted(reply, sent) : undefined;
    } catch (error) {
      const reason = toStoreError(error);
      // Whichever was granted, it is taken back.
      if (reason.kind === 'transient' && !reason.notSent) this.undo(call);
      throw refusalOf(this.keyOf(0), reason, 'Nothing was claimed.');
    }
  }

  private granted(reply: FirstGranted, sent: Stamp): Lease {
    const { engine, request, options } = this;
    const { fencingToken, ttlMs, index, serverTimeMs } = reply;
    if (serverTimeMs !== undefined) engine.serverTime.saw(serverTimeMs, sent.mono);
    const key = this.keyOf(index);
    engine.floors.saw(key, fencingToken);
    if (new Validity(engine.clock, sent, ttlMs).judge() !== 'held') {
      throw new StoreError('transient', `the answer took most of the ttl of ${String(ttlMs)} ms; a longer ttl leaves it time`);
    }
    const { holderId, holderTag } = request;
    const waitedMs = Math.round(engine.clock.monotonic() - sent.mono);
    return engine.hold({ key, holderId, holderTag, fencingToken, ttlMs, sent, maxHoldMs: options.maxHoldMs }, waitedMs);
  }

  private undo(pending: Promise<unknown>): void {
    const { holderId, holderTag, ttlMs } = this.request;
    const left = { holderId, holderTag, ttlMs, limitMs: this.limitMs, pending: Promise.allSettled([pending]) };
    for (const { key } of this.request.candidates) this.engine.undoer.undo({ key, ...left });
  }

  private keyOf(index: number): string {
    return this.request.candidates[index]?.key ?? '';
  }
}
