import { StoreError } from './lease-store.js';

/** What a store rejects with that is not a `StoreError` counts as transient. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const text = typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
  return new StoreError('transient', text, { cause: error });
}
