import { LeaseHttpError } from './lease-http-error.js';

/**
 * The lease was granted, but fewer replicas than `durability` asks for confirmed it in time, so it was given back: HTTP 503.
 * Nothing was run; try again.
 */
export class LeaseNotDurableError extends LeaseHttpError {
  readonly code = 'LEASE_NOT_DURABLE';
  /** How many replicas had confirmed. */
  readonly confirmed: number;
  /** How many `durability.replicas` asks for. */
  readonly required: number;

  constructor(key: string, detail: string, options: { confirmed: number; required: number; cause?: unknown }) {
    super({
      name: 'LeaseNotDurableError',
      code: 'LEASE_NOT_DURABLE',
      status: 503,
      message: `The lease "${key}" is not durable: ${detail}`,
      publicMessage: 'The service that coordinates this work is not safe enough at the moment; try again later.',
      key,
      cause: options.cause,
    });
    this.confirmed = options.confirmed;
    this.required = options.required;
  }
}
