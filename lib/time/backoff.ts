/** Half to one and a half times `ms`, so that those who failed together do not come back together. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random());
}

/** Delay before try number `attempt` (from 0): doubles from `firstMs` to `mostMs`, with jitter. */
export function backoffMs(attempt: number, firstMs: number, mostMs: number): number {
  return jittered(Math.min(mostMs, firstMs * 2 ** Math.min(attempt, 20)));
}
