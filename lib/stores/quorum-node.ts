/**
 * The part of the store port that makes a store one node of a quorum. The nodes know nothing of each other; whoever asks them
 * all chooses one token for the lease, above those that they granted, and has each of them confirm it.
 */
export interface QuorumNode {
  /**
   * If the lease under the key is still this holder's, and was granted with a token that is not above this one: the fence is
   * raised to the token, the lease is known by it from now on, and the answer says so. Else nothing changes. Safe to repeat.
   * @throws StoreError
   */
  confirm(request: ConfirmRequest): Promise<ConfirmResult>;
  /** As `LeaseStore.renew`; but a lease whose own token is above the one in the request is not renewed (`ahead`). */
  renew(requests: readonly NodeRenewRequest[]): Promise<NodeRenewResult[]>;
  /** The highest token that the node remembers of the key. @throws StoreError */
  recall(request: RecallRequest): Promise<Recalled>;
}

/** One lease that is to be known by the token of the quorum. */
export interface ConfirmRequest {
  readonly key: string;
  readonly holderId: string;
  readonly fencingToken: number;
  /** The answer should say what the node may have forgotten. */
  readonly memory: boolean;
}

/**
 * `gone`: no lease under the key; `taken`: another's; `ahead`: this holder's, but granted with a higher token. Of none of these
 * anything was changed.
 */
export type ConfirmResult =
  | { readonly kind: 'confirmed'; readonly memory?: NodeMemory }
  | { readonly kind: 'gone' | 'taken' }
  | { readonly kind: 'ahead'; readonly fencingToken: number };

/** What a node may have forgotten. */
export interface NodeMemory {
  /** Names one life of the node, from a start to its end; two nodes never have the same. */
  readonly run: string;
  /** For so long (ms) it has forgotten nothing: since it started, or `Infinity` where it keeps everything through a restart; `undefined` when it would not say. */
  readonly rememberedMs: number | undefined;
}

/** One lease that is to live on; as `RenewRequest`. */
export interface NodeRenewRequest {
  readonly key: string;
  readonly holderId: string;
  readonly fencingToken: number;
  readonly ttlMs: number;
}

/** As `RenewResult`. `ahead`: it is this holder's, but was granted with a higher token; nothing was changed. */
export type NodeRenewResult =
  | { readonly kind: 'held' | 'gone' }
  | { readonly kind: 'taken'; readonly fencingToken?: number }
  | { readonly kind: 'ahead'; readonly fencingToken: number }
  | { readonly kind: 'unknown'; readonly error: Error };

/** Whose fence is asked for. */
export interface RecallRequest {
  readonly key: string;
  readonly memory: boolean;
}

/** What a node remembers of a key. */
export interface Recalled {
  /** 0 when it remembers none. */
  readonly fence: number;
  readonly memory?: NodeMemory;
}
