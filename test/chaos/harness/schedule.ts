import { seeded } from '../../support/fuzz-random.js';

/** What can be done to one client process, or to its way to the store or the resource; what hurts most comes more often. */
export const CLIENT_FAULTS = [
  ...(['kill', 'freeze', 'cut', 'refuse', 'half-open', 'delay', 'lose-requests', 'lose-replies', 'partition'] as const),
  ...(['wall-clock', 'suspend', 'slow-network', 'kill', 'freeze', 'freeze', 'slow-network'] as const),
] as const;

/** What can be done to the store, whatever its topology. */
export const STORE_FAULTS = ['script-flush', 'cut-subscriptions', 'freeze-node', 'delete-lease', 'delete-fence'] as const;

/** What needs a certain topology. */
export const TOPOLOGY_FAULTS = ['restart', 'restart-empty', 'failover', 'kill-primary', 'isolate-primary', 'migrate-slot'] as const;

export type FaultKind = (typeof CLIENT_FAULTS)[number] | (typeof STORE_FAULTS)[number] | (typeof TOPOLOGY_FAULTS)[number];

/** One fault of a schedule. */
export interface Fault {
  /** Milliseconds after the start. */
  readonly atMs: number;
  readonly kind: FaultKind;
  /** Which client, key or node it hits: a number from 0 to 1. */
  readonly where: number;
  /** It hits the client that had the lease of that key last. */
  readonly holder: boolean;
  /** How long it lasts, where it does. */
  readonly forMs: number;
  /** How strong it is, from -1 to 1: how far a clock is set, for instance. */
  readonly amount: number;
}

/** What a schedule is made from. */
export interface ScheduleOptions {
  readonly seed: number;
  readonly forMs: number;
  /** Faults that are possible; one that is named twice comes twice as often. */
  readonly kinds: readonly FaultKind[];
  /** Of the leases: faults last from nothing to twice this. */
  readonly ttlMs: number;
}

/** The faults of one run, which follow from the seed alone. */
export function scheduleOf({ seed, forMs, kinds, ttlMs }: ScheduleOptions): Fault[] {
  const random = seeded(seed);
  const faults: Fault[] = [];
  // Every kind comes before one comes again.
  let left: FaultKind[] = [];
  for (let atMs = 300 + random() * 300; atMs < forMs; atMs += 150 + random() * 450) {
    if (left.length === 0) left = [...kinds];
    const [kind] = left.splice(Math.floor(random() * left.length), 1) as [FaultKind];
    faults.push({
      atMs: Math.round(atMs),
      kind,
      where: random(),
      holder: random() < 0.6,
      forMs: Math.round(random() * 2 * ttlMs),
      amount: random() * 2 - 1,
    });
  }
  return faults;
}

/** A schedule, to be printed. */
export const showSchedule = (faults: readonly Fault[]): string =>
  faults
    .map(({ atMs, kind, where, holder, forMs }) => `${String(atMs)} ${kind} @${where.toFixed(2)}${holder ? '!' : ''} ${String(forMs)}`)
    .join('; ');
