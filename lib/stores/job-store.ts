/** The part of the store port that job workers need: to choose among many leases, and to leave one taken for a while. */
export interface JobStore {
  /**
   * Grants the first of these leases that is free, and only that one: chosen by the store, so that many who ask for the same list
   * at the same moment get different ones. Asked again by the same holder, what it holds already is granted again. One round trip
   * for as many as the store can look at in one step.
   * @throws StoreError
   */
  acquireFirst(request: FirstRequest): Promise<FirstGranted | NoneFree>;
  /** As `release`, but the key stays taken, by nobody (`cooldown`), for `cooldownMs`. Safe to repeat. @throws StoreError */
  coolDown(request: CoolDownRequest): Promise<CoolDownReply>;
}

/** One try to get any one of several leases. */
export interface FirstRequest {
  /** In the order of preference, each once. */
  readonly candidates: readonly FirstCandidate[];
  /** Random for each call; proves ownership of the lease that is granted; secret. */
  readonly holderId: string;
  /** Short hash of `holderId`, shown to others. */
  readonly holderTag: string;
  /** How the process describes itself to operators. */
  readonly holder: string;
  readonly ttlMs: number;
}

/** A lease that may be free. */
export interface FirstCandidate {
  readonly key: string;
  /** The token granted must be higher than this. */
  readonly floor?: number;
}

/** The lease of one candidate is ours. */
export interface FirstGranted {
  readonly kind: 'granted';
  /** Which of the candidates it is. */
  readonly index: number;
  readonly fencingToken: number;
  readonly ttlMs: number;
  /** The store's clock when it decided, in milliseconds since the epoch. */
  readonly serverTimeMs?: number;
}

/** None of the leases is free. */
export interface NoneFree {
  readonly kind: 'busy';
}

/** The lease to be given back, and for how long nobody may have it. */
export interface CoolDownRequest {
  readonly key: string;
  readonly holderId: string;
  readonly fencingToken: number;
  readonly cooldownMs: number;
}

/** `not-held`: the lease had ended, or another holder has it; nothing was changed. */
export interface CoolDownReply {
  readonly kind: 'released' | 'not-held';
}
