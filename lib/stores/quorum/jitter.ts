/** Half to one and a half times `ms`, so that those who failed together do not come back together. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random());
}
