/**
 * `warning`: something that the store cannot do here, said once. `amnesia`: the server behind the store may have forgotten
 * leases; see `AmnesiaEvent`, which has the same fields.
 */
export type StoreNotice = { readonly kind: 'warning'; readonly message: string } | AmnesiaNotice;

/** The server behind the store may have forgotten leases. Times in milliseconds. */
export interface AmnesiaNotice {
  readonly kind: 'amnesia';
  /** Which one: an address. */
  readonly server: string;
  readonly reason: 'restarted' | 'promoted' | 'replaced' | 'started';
  readonly uptimeMs: number;
  /** For so long from now nothing is granted; 0 where that was not asked for. */
  readonly pauseMs: number;
}
