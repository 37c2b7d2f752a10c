/** How `waitFor` waits. */
export interface WaitForOptions {
  /** Gives up after so many milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** What was waited for, for the error. */
  readonly message?: string;
  /** Milliseconds between two looks; default 5. */
  readonly intervalMs?: number;
}

/**
 * Polls until `condition` gives something truthy, and gives that back. A condition that throws counts as not yet; its last
 * error becomes the `cause`.
 */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitForOptions = {}): Promise<T> {
  const { timeoutMs = 10_000, message = 'the condition', intervalMs = 5 } = options;
  const until = performance.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() >= until) throw new Error(`Waited ${String(timeoutMs)} ms in vain for ${message}.`, { cause });
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
