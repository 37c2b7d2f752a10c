import { StoreError } from '../stores/lease-store.js';
import { toStoreError } from '../stores/to-store-error.js';
import type { Clock } from '../time/clock.js';

/**
 * The longest one call to the store may take for a lease of this ttl: an unanswered one must leave time for another try
 * before the soft deadline.
 */
export function callLimitMs(ttlMs: number, commandTimeoutMs: number): number {
  return Math.min(commandTimeoutMs, Math.max(ttlMs / 6, 50));
}

/**
 * Settles as `call` does, but after `limitMs` at the latest: then it rejects with a transient `StoreError`. The call itself
 * goes on, since nothing can call it back; who gives it up must undo what it may still do.
 */
export function withTimeLimit<T>(clock: Clock, limitMs: number, call: Promise<T>, onTimeout?: () => void): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = clock.setTimer(() => {
      onTimeout?.();
      reject(new StoreError('transient', `the store did not answer within ${String(Math.round(limitMs))} ms`));
    }, limitMs);
    call.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(toStoreError(error));
      },
    );
  });
}

/** Settles with the first of `events`, or resolves after `ms`. */
export async function settleWithin(clock: Clock, ms: number, events: readonly Promise<void>[]): Promise<void> {
  let cancel = (): void => undefined;
  const slept = new Promise<void>((resolve) => {
    const timer = clock.setTimer(resolve, ms);
    cancel = () => timer.cancel();
  });
  try {
    await Promise.race([...events, slept]);
  } finally {
    cancel();
  }
}
