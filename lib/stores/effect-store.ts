/**
 * The part of the store port that `once` needs: it remembers, for a key, that an effect was begun and what came of it. Begin and
 * end are written only while the holder of the key's lease still holds it, in one step with that check. What is remembered ends
 * by itself, `keepMs` after it was written.
 */
export interface EffectStore {
  /** What is known of the effect; `undefined` when nobody began it. Never answered from a replica. @throws StoreError */
  find(key: string): Promise<EffectRecord | undefined>;
  /**
   * Writes that the holder of the lease begins the effect, unless it is done, or a try that nobody ended is in the way. Asked
   * again by the same holder it is begun again. @throws StoreError
   */
  start(request: StartEffectRequest): Promise<StartEffectReply>;
  /** Writes how the holder's try ended. Safe to repeat. @throws StoreError */
  settle(request: SettleEffectRequest): Promise<SettleEffectReply>;
}

/**
 * `started`: begun, and nobody said how it ended: by the present holder of the lease, or by one that has crashed. `done`: it has a
 * result. `unusable`: done, but its result could not be kept.
 */
export type EffectState = 'started' | 'done' | 'unusable';

/** What is remembered of an effect. */
export interface EffectRecord {
  readonly state: EffectState;
  /** Token of the lease that the last try ran under. */
  readonly fencingToken: number;
  /** How the process of that try describes itself. */
  readonly holder: string;
  readonly holderTag: string;
  /** When that try began, in milliseconds since the epoch by the store's clock. */
  readonly started: number;
  /** Of `done` the result, of `unusable` the reason; as it was given to `settle`, otherwise empty. */
  readonly text: string;
}

/** A try that begins. */
export interface StartEffectRequest {
  readonly key: string;
  /** Of the lease that it runs under. */
  readonly holderId: string;
  /** How long it is remembered that it began, in milliseconds. */
  readonly keepMs: number;
  /** A try that nobody ended is not in the way. */
  readonly rerun: boolean;
}

/** `known`: not begun, since it is done, or an earlier try crashed. `not-held`: the lease has ended, or another holder has it. */
export type StartEffectReply =
  | { readonly kind: 'started'; readonly rerun: boolean }
  | { readonly kind: 'known'; readonly record: EffectRecord }
  | { readonly kind: 'not-held' };

/** A try that ends. `undone`: it has not taken effect, so it is forgotten. */
export interface SettleEffectRequest {
  readonly key: string;
  readonly holderId: string;
  readonly outcome: 'done' | 'unusable' | 'undone';
  /** The result, or the reason; bounded by the caller. */
  readonly text: string;
  /** How long it is remembered, in milliseconds. */
  readonly keepMs: number;
}

/** `not-held`: the lease has ended, or another holder has it; nothing was changed. */
export interface SettleEffectReply {
  readonly kind: 'settled' | 'not-held';
}
