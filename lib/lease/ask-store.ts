import { LeaseUnavailableError } from '../errors/lease-unavailable.error.js';
import { toStoreError } from '../stores/to-store-error.js';
import type { EngineParts } from './engine-parts.js';
import { withTimeLimit } from './time-limit.js';

/** One question to the store, outside the caller's async context and within the command timeout. @throws LeaseUnavailableError */
export async function askStore<T>(engine: EngineParts, key: string, call: () => Promise<T>): Promise<T> {
  try {
    return await withTimeLimit(engine.clock, engine.defaults.commandTimeoutMs, engine.outside(call), () => engine.store.unanswered?.());
  } catch (error) {
    const reason = toStoreError(error);
    throw new LeaseUnavailableError(key, reason.message, { cause: reason.cause ?? reason });
  }
}
