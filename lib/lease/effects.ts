import { LeaseOptionsError } from '../errors/lease-options.error.js';
import type { EffectRecord, EffectStore, SettleEffectRequest, StartEffectReply } from '../stores/effect-store.js';
import type { StoreError } from '../stores/lease-store.js';
import { askStore } from './ask-store.js';
import { backoffMs } from './backoff.js';
import type { EngineParts } from './engine-parts.js';
import { isHeld, loseLease, ttlOf } from './lease-control.js';
import type { Lease } from './lease.js';
import { callLimitMs, toStoreError, withTimeLimit } from './time-limit.js';

/** How a try ended. */
export type EffectEnding = Pick<SettleEffectRequest, 'outcome' | 'text' | 'keepMs'>;

/** What `once` asks of the store, for a lease that is held. */
export class Effects {
  constructor(private readonly engine: EngineParts) {}

  /** @throws LeaseUnavailableError, LeaseOptionsError where the store remembers no effects */
  find(key: string): Promise<EffectRecord | undefined> {
    const effects = this.store();
    return askStore(this.engine, key, () => effects.find(key));
  }

  /** Nothing has been run when it rejects. @throws LeaseUnavailableError, LeaseLostError */
  async start(lease: Lease, keepMs: number, rerun: boolean): Promise<Exclude<StartEffectReply, { kind: 'not-held' }>> {
    const { key, holderId } = lease;
    const reply = await askStore(this.engine, key, () => this.store().start({ key, holderId, keepMs, rerun }));
    if (reply.kind !== 'not-held') return reply;
    throw this.gone(lease);
  }

  /**
   * Writes how the try ended; a store without an answer is asked again while the lease is held.
   * @throws LeaseLostError when it ended too late, StoreError when the store did not take it
   */
  async settle(lease: Lease, ending: EffectEnding): Promise<void> {
    const { clock } = this.engine;
    const until = clock.monotonic() + ttlOf(lease);
    for (let failures = 0; ; failures++) {
      const failure = await this.trySettle(lease, ending);
      if (failure === undefined) return;
      lease.assertHeld();
      if (failure.kind !== 'transient' || clock.monotonic() >= until) throw failure;
      await new Promise<void>((resolve) => void clock.setTimer(resolve, backoffMs(failures, 50, 1000)));
    }
  }

  /** The try has not taken effect. One attempt: what is not forgotten looks like a crash. Never rejects. */
  async forget(lease: Lease): Promise<void> {
    if (isHeld(lease) !== 'held') return;
    await this.trySettle(lease, { outcome: 'undone', text: '', keepMs: 1 }).catch(() => undefined);
  }

  private async trySettle(lease: Lease, ending: EffectEnding): Promise<StoreError | undefined> {
    const { engine } = this;
    const { key, holderId } = lease;
    const limitMs = callLimitMs(ttlOf(lease), engine.defaults.commandTimeoutMs);
    try {
      const call = engine.outside(() => this.store().settle({ key, holderId, ...ending }));
      const { kind } = await withTimeLimit(engine.clock, limitMs, call, () => engine.store.unanswered?.());
      if (kind === 'settled') return undefined;
    } catch (error) {
      return toStoreError(error);
    }
    throw this.gone(lease);
  }

  /** The store says that it is not ours, which the keep-alive may not have learned yet. */
  private gone(lease: Lease): unknown {
    loseLease(lease, 'expired');
    try {
      lease.assertHeld();
    } catch (error) {
      return error;
    }
    return undefined;
  }

  private store(): EffectStore {
    const { effects, capabilities } = this.engine.store;
    if (effects) return effects;
    throw new LeaseOptionsError('store', `The store ${capabilities.name} does not remember effects, so it cannot serve once().`);
  }
}
