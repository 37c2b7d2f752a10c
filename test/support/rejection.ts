import type { StoreError } from '../../lib/stores/lease-store.js';

/** What a call rejects with. */
export async function rejection(call: Promise<unknown>): Promise<any> {
  return call.then(
    (value) => Promise.reject(new Error(`It did not reject but gave ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  );
}

/** What a call of a store rejects with. */
export const errorOf = (call: Promise<unknown>): Promise<StoreError> => rejection(call);
