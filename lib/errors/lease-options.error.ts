import type { LeaseError } from './lease-error.js';

/**
 * An option is wrong: a plain error of configuration, thrown at decoration, at start-up, or at the latest before the body
 * runs. The message names the option, the value and the remedy.
 */
export class LeaseOptionsError extends Error implements LeaseError {
  readonly code = 'LEASE_OPTIONS_INVALID';
  /** Name of the option, for example `ttl`. */
  readonly option: string;
  readonly key?: string;

  constructor(option: string, message: string, options: { key?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LeaseOptionsError';
    this.option = option;
    if (options.key !== undefined) this.key = options.key;
  }
}
