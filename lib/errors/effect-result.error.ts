import { LeaseHttpError } from './lease-http-error.js';

/**
 * The effect of `once` has taken place, and its result cannot be given: it is no JSON, or too large to be kept. HTTP 500. The
 * first caller is told, and so is every repeat; the effect is not run again. Return less, such as an id.
 */
export class EffectResultError extends LeaseHttpError {
  readonly code = 'EFFECT_RESULT_UNUSABLE';

  constructor(key: string, detail: string, options: { cause?: unknown } = {}) {
    super({
      name: 'EffectResultError',
      code: 'EFFECT_RESULT_UNUSABLE',
      status: 500,
      message: `The effect "${key}" has taken place, but its result could not be kept: ${detail}. It is not run again; return something small that JSON can hold, such as an id.`,
      publicMessage: 'This was done, but its result is not available.',
      key,
      cause: options.cause,
    });
  }
}
