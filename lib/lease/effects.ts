import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { LeaseUnavailableError } from '../errors/lease-unavailable.error.js';
import type { EffectRecord, EffectStore, SettleEffectRequest, StartEffectReply } from '../stores/effect-store.js';
import { StoreError } from '../stores/lease-store.js';
import { toStoreError } from '../stores/to-store-error.js';
import { backoffMs } from '../time/backoff.js';
import { askStore } from './ask-store.js';
import type { EngineParts } from './engine-parts.js';
import { isHeld, loseLease, ttlOf } from './lease-control.js';
import type { Lease } from './lease.js';
import { callLimitMs, withTimeLimit } from './time-limit.js';

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
    const patienceMs = Math.min(this.engine.defaults.commandTimeoutMs, ttlOf(lease) / 2);
    try {
      const reply = await this.insist(lease, patienceMs, () => this.store().start({ key, holderId, keepMs, rerun }));
      if (reply.kind !== 'not-held') return reply;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // It may have been written nevertheless, and would look like a crash.
      await this.forget(lease);
      throw new LeaseUnavailableError(key, `${error.message}. Nothing was run.`, { cause: error.cause ?? error });
    }
    throw this.gone(lease);
  }

  /**
   * Writes how the try ended; a store without an answer is asked again for one ttl, while the lease is held.
   * @throws LeaseLostError when it ended too late, StoreError when the store did not take it
   */
  async settle(lease: Lease, ending: EffectEnding): Promise<void> {
    const { key, holderId } = lease;
    const { kind } = await this.insist(lease, ttlOf(lease), () => this.store().settle({ key, holderId, ...ending }));
    if (kind !== 'settled') throw this.gone(lease);
  }

  /** The try has not taken effect. One attempt: what is not forgotten looks like a crash. Never rejects. */
  async forget(lease: Lease): Promise<void> {
    const { key, holderId } = lease;
    const ending = { outcome: 'undone', text: '', keepMs: 1 } as const;
    if (isHeld(lease) === 'held')
      await this.insist(lease, 0, () => this.store().settle({ key, holderId, ...ending })).catch(() => undefined);
  }

  /** Asks, and asks again for so long, while the lease is held: what is asked is safe to repeat. @throws StoreError, LeaseLostError */
  private async insist<T>(lease: Lease, patienceMs: number, ask: () => Promise<T>): Promise<T> {
    const { engine } = this;
    const { clock } = engine;
    const limitMs = callLimitMs(ttlOf(lease), engine.defaults.commandTimeoutMs);
    const until = clock.monotonic() + patienceMs;
    for (let failures = 0; ; failures++) {
      try {
        return await withTimeLimit(clock, limitMs, engine.outside(ask), () => engine.store.unanswered?.());
      } catch (error) {
        const reason = toStoreError(error);
        if (reason.kind !== 'transient' || clock.monotonic() >= until) throw reason;
      }
      lease.assertHeld();
      await new Promise<void>((resolve) => void clock.setTimer(resolve, backoffMs(failures, 50, 1000)));
    }
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
