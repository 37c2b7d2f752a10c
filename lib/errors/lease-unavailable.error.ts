import { LeaseHttpError } from './lease-http-error.js';

/** The store could not be asked, or answered something no lease can be built on: HTTP 503. Nothing was run. `cause` is the store's error. */
export class LeaseUnavailableError extends LeaseHttpError {
  readonly code = 'LEASE_UNAVAILABLE';

  constructor(key: string | undefined, detail: string, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    const what = key === undefined ? 'The lease store' : `The lease "${key}"`;
    super({
      name: 'LeaseUnavailableError',
      code: 'LEASE_UNAVAILABLE',
      status: 503,
      message: `${what} is unavailable: ${detail}`,
      publicMessage: 'The service that coordinates this work cannot be asked; try again later.',
      key,
      retryAfterMs: options.retryAfterMs,
      cause: options.cause,
    });
  }
}
