/**
 * `offer`: a lease is offered to the waiter `holderId` of this process. `again`: notices may have been missed (with `key`: of this
 * lease only), so everybody should ask once.
 */
export type Wake = { readonly kind: 'offer'; readonly holderId: string } | { readonly kind: 'again'; readonly key?: string | undefined };

/** What `onWake` of a store gives back. */
export interface StoreSubscription {
  /** Resolves when notices arrive from now on, or never will; pending as long as that is not known. Never rejects. */
  readonly ready: Promise<void>;
  /** `false` while notices cannot arrive, so that waiters look more often. Left out where they always arrive. */
  readonly live?: boolean;
  /** Where each lease has notices of its own: called before a place in its line is taken, as often as one likes. As `ready`, for this key. */
  follow?(key: string): Promise<void>;
  /** Nobody of this process waits for the key any more. */
  unfollow?(key: string): void;
  /** Called now and then while somebody waits, and when a notice is missing: finds out whether notices still arrive. */
  check?(): void;
  unsubscribe(): void;
}
