import { LeaseHttpError } from './lease-http-error.js';

/** The application is shutting down and grants no new leases: HTTP 503. Nothing was run. */
export class LeaseShutdownError extends LeaseHttpError {
  readonly code = 'LEASE_SHUTDOWN';

  constructor(key?: string, options: { cause?: unknown } = {}) {
    const what = key === undefined ? 'No new lease is granted' : `The lease "${key}" is not granted`;
    super({
      name: 'LeaseShutdownError',
      code: 'LEASE_SHUTDOWN',
      status: 503,
      message: `${what}: the application is shutting down. Ask another replica.`,
      publicMessage: 'This replica is shutting down; try again.',
      key,
      cause: options.cause,
    });
  }
}
