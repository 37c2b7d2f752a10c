import { LeaseHttpError } from './lease-http-error.js';

/** What is known when a token is refused. */
export interface StaleTokenDetails {
  /** The token the resource has accepted last, where it could be read. */
  readonly current?: number | undefined;
  /** Key of the lease whose token was refused, where it is known. */
  readonly key?: string | undefined;
  /** The HTTP body says `current`: for services that present tokens to each other. Default false. */
  readonly tellCurrent?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * A lease with a method of this name is told at once when a resource refuses its token, and counts as lost from then on
 * (reason `fenced`), also when the handler swallows the error. `Symbol.for`, so that two copies of this package agree.
 */
export const REFUSED_BY_FENCE: unique symbol = Symbol.for('nestjs-lease.refused-by-fence') as never;

/** A protected resource has seen a newer holder and refused this write: HTTP 409. The lease behind the token counts as lost. */
export class StaleFencingTokenError extends LeaseHttpError {
  readonly code = 'FENCING_TOKEN_STALE';
  /** Name of the resource that refused, as its guard knows it. */
  readonly resource: string;
  /** The token that was refused. */
  readonly fencingToken: number;
  /** The token the resource has accepted last, where it could be read. */
  readonly current?: number;

  constructor(resource: string, fencingToken: number, options: StaleTokenDetails = {}) {
    const seen = options.current === undefined ? 'a newer one' : String(options.current);
    super({
      name: 'StaleFencingTokenError',
      code: 'FENCING_TOKEN_STALE',
      status: 409,
      message: `"${resource}" refused fencing token ${String(fencingToken)}: it has accepted ${seen}. Another holder is at work; stop, and acquire the lease again before the next write.`,
      publicMessage: 'A newer holder has already written; this write was refused.',
      key: options.key,
      current: options.tellCurrent ? options.current : undefined,
      cause: options.cause,
    });
    this.resource = resource;
    this.fencingToken = fencingToken;
    if (options.current !== undefined) this.current = options.current;
  }
}
