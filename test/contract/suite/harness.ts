import type { AcquireRequest, Busy, Granted, LeaseStore, Queued } from '../../../lib/stores/lease-store.js';

/** What the suite needs of a store under test, besides the port itself. */
export interface StoreHarness {
  readonly store: LeaseStore;
  /** The same data seen by another process; the same object where a store lives in one process only. */
  readonly rival: LeaseStore;
  /** How far a remaining time may be off by the slowness of the machine, in ms; 0 on a manual clock. */
  readonly slackMs: number;
  /** Comes back when at least `ms` have gone by on the store's clock. */
  advance(ms: number): Promise<void>;
  /** Makes the lease itself disappear, as an eviction or an operator's DEL would. */
  loseKey(key: string): Promise<void>;
  /** Makes the memory of the last token disappear. */
  loseFence(key: string): Promise<void>;
  /** The fence as it is stored, and how long it will still be kept; `undefined` when there is none. */
  readFence(key: string): Promise<{ readonly token: number; readonly ttlMs: number } | undefined>;
  /** Sets the fence as somebody else's hand would; how long it is kept does not matter. */
  putFence(key: string, value: string): Promise<void>;
  /** Puts something under the lease's key that is not a lease. With the feature `foreign`. */
  putForeign?(key: string): Promise<void>;
  /** True while what `putForeign` put is still there. With the feature `foreign`. */
  isForeign?(key: string): Promise<boolean>;
  /** Sets the store's clock, forward or back. With the feature `virtualTime`. */
  stepClock?(ms: number): void;
  /** What the store keeps that would never end by itself; must be empty at all times. With the feature `immortal`. */
  immortal?(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export type MakeHarness = () => Promise<StoreHarness>;

/** What cannot be tried with every store. */
export interface Features {
  /** The store's clock is moved by the harness: `advance` costs nothing and `stepClock` is there. */
  readonly virtualTime?: boolean;
  /** Something that is not a lease can lie under a key. */
  readonly foreign?: boolean;
  /** Something can be kept that does not end by itself. */
  readonly immortal?: boolean;
  /** The fence is stored as text, so it can be no number at all. */
  readonly textFence?: boolean;
  /** `false`: the store does not remember instants of scheduled jobs. Default: it does. */
  readonly instants?: boolean;
  /** `false`: the store does not remember effects. Default: it does. */
  readonly effects?: boolean;
  /** `false`: the store does not choose for job workers. Default: it does. */
  readonly jobs?: boolean;
  /** `false`: of the leases that are free the store may choose any for a job worker. Default: it takes the first. */
  readonly jobsInOrder?: boolean;
  /** `false`: the store keeps no line of waiters, who look again instead. Default: it does. */
  readonly line?: boolean;
  /**
   * The store is several, each with a clock of its own: what it says of a time differs by a little, and of those who ask at the same
   * moment perhaps nobody gets a majority.
   */
  readonly several?: boolean;
  /** Runs of each property test. Default: 50. */
  readonly runs?: number;
}

/** Long enough never to end within a test on a real clock. */
export const LONG = 30_000;
/** Short enough to wait for. */
export const SHORT = 100;
/** For tests that try very many things: generous, since a real store may run on a busy machine. */
export const PATIENCE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

let counter = 0;

/** A key that no other test uses. */
export function freshKey(label = 'key'): string {
  counter += 1;
  return `${label}-${String(process.pid)}-${String(counter)}`;
}

/** A request of a new holder. */
export function ask(key: string, overrides: Partial<AcquireRequest> = {}): AcquireRequest {
  counter += 1;
  const n = String(counter);
  return { key, holderId: `secret-${n}`, holderTag: `tag-${n}`, holder: `host:${n}`, ttlMs: LONG, ...overrides };
}

/** What was granted, together with what was asked. */
export interface Taken extends AcquireRequest {
  readonly fencingToken: number;
  readonly granted: Granted;
}

/** Acquires for a new holder, and fails the test when it is busy. */
export async function take(store: LeaseStore, key: string, overrides: Partial<AcquireRequest> = {}): Promise<Taken> {
  const request = ask(key, overrides);
  const granted = grantedOf(await store.acquire(request));
  return { ...request, fencingToken: granted.fencingToken, granted };
}

export function grantedOf(result: Granted | Busy | Queued): Granted {
  if (result.kind !== 'granted') throw new Error(`Expected a grant, got ${JSON.stringify(result)}`);
  return result;
}

export function busyOf(result: Granted | Busy | Queued): Busy {
  if (result.kind !== 'busy') throw new Error(`Expected busy, got ${JSON.stringify(result)}`);
  return result;
}

/** Who holds the key now, by tag. */
export async function holderOf(store: LeaseStore, key: string): Promise<string | undefined> {
  return (await store.inspect(key))?.holderTag;
}

/** The kind of the `StoreError` that `call` rejects with. */
export async function storeErrorKind(call: Promise<unknown>): Promise<string> {
  try {
    return `resolved with ${JSON.stringify(await call)}`;
  } catch (error) {
    const { name, kind } = error as { name?: string; kind?: string };
    return name === 'StoreError' ? String(kind) : `rejected with ${String(error)}`;
  }
}
