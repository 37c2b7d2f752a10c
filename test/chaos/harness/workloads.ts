/** What clients do under one lease. */
export interface Workload {
  readonly key: string;
  /** Keeps the lease for up to so long. */
  readonly holdMs: number;
  /** Writes to the resource; else it only asks again and again whether it still holds the lease. */
  readonly writes: boolean;
  /** Takes up to so long between reading and writing. */
  readonly thinkMs: number;
  /** Asks `assertHeld()` right before each write, and stops when that throws or a fence refuses. */
  readonly checks: boolean;
  readonly pauseMs: number;
}

/** Each key is fought for by all clients. */
export const WORKLOADS: readonly Workload[] = [
  { key: 'careful', holdMs: 0, writes: true, thinkMs: 60, checks: true, pauseMs: 20 },
  { key: 'naive', holdMs: 0, writes: true, thinkMs: 60, checks: false, pauseMs: 20 },
  { key: 'long', holdMs: 3000, writes: true, thinkMs: 40, checks: true, pauseMs: 50 },
  { key: 'line', holdMs: 0, writes: false, thinkMs: 0, checks: true, pauseMs: 10 },
];
