import { LeaseHttpError } from './lease-http-error.js';

/** A key, or a value that a key template needs, cannot be used: HTTP 400, before the body runs. */
export class LeaseKeyError extends LeaseHttpError {
  readonly code = 'LEASE_KEY_INVALID';

  constructor(message: string, options: { key?: string; cause?: unknown } = {}) {
    super({
      name: 'LeaseKeyError',
      code: 'LEASE_KEY_INVALID',
      status: 400,
      message,
      publicMessage: 'A value that this call needs is missing or malformed.',
      key: options.key,
      cause: options.cause,
    });
  }
}
