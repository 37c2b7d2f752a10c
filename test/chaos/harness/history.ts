import { sharedNow } from '../../support/shared-clock.js';
import type { Audited, Rows } from './resource.js';

/** Times are milliseconds since the epoch, by the one clock of the machine, unless something else is said. */
export const now = sharedNow;

/** A lease as its client saw it. */
export interface Grant {
  readonly client: string;
  readonly key: string;
  readonly token: number;
  readonly tag: string;
  /** When the client asked, and when it had the answer. */
  readonly askedAt: number;
  readonly at: number;
}

/** `assertHeld()` returned; `at` is a moment before it was called. */
export interface Pass {
  readonly client: string;
  readonly key: string;
  readonly token: number;
  readonly tag: string;
  readonly at: number;
}

/** From when to when a node of the store had a lease for a holder. */
export interface Stay {
  readonly node: number;
  readonly key: string;
  readonly tag: string;
  readonly token: number;
  readonly from: number;
  to: number;
}

/** The store, or one node of it, forgot what it knew, or may have: of all keys, or of one. */
export interface Amnesia {
  readonly kind: string;
  readonly key?: string;
  readonly from: number;
  readonly until: number;
}

/** One run of the scheduled job began. */
export interface Run {
  readonly client: string;
  readonly instant: number;
  readonly token: number;
  readonly at: number;
}

/** All that happened in a run, to be judged. */
export interface History {
  readonly keys: readonly string[];
  readonly ttlMs: number;
  readonly grants: readonly Grant[];
  readonly passes: readonly Pass[];
  /** What the nodes did, by MONITOR, oldest first. Empty where it was not watched. */
  readonly stays: readonly Stay[];
  /** So many nodes must hold a lease. */
  readonly votes: number;
  readonly amnesia: readonly Amnesia[];
  readonly runs: readonly Run[];
  /** Whether the job of every second was run at all. */
  readonly scheduled: boolean;
  /** What the resource was asked, in order, and what is in it in the end. */
  readonly audited: readonly Audited[];
  readonly rows: Rows;
  /** Violations of the order of the line. */
  readonly line: readonly string[];
  /** Keys of ours without a ttl, whenever they were seen. */
  readonly endless: readonly string[];
  /** Processes that were killed in the last seconds before the faults ended. */
  readonly dead: number;
  readonly healedAt: number;
  readonly endedAt: number;
  /** What reached no catch in a client, and clients that ended by themselves. */
  readonly crashes: readonly string[];
}
