import { LeaseOptionsError } from '../../errors/lease-options.error.js';

/** The error for a schedule option: names the option and the value, then says what is wrong and what to write. */
export function refuseOption(option: string, value: unknown, why: string, cause?: unknown): LeaseOptionsError {
  const shown = typeof value === 'string' ? `"${value}"` : String(value);
  return new LeaseOptionsError(option, `The option "${option}" (${shown}) ${why}.`, cause === undefined ? {} : { cause });
}
