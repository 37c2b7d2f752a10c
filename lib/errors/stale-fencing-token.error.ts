import { LeaseHttpError } from './lease-http-error.js';

/** A protected resource has seen a newer holder and refused this write: HTTP 409. The lease behind the token counts as lost. */
export class StaleFencingTokenError extends LeaseHttpError {
  readonly code = 'FENCING_TOKEN_STALE';
  /** Name of the resource that refused, as its guard knows it. */
  readonly resource: string;
  /** The token that was refused. */
  readonly fencingToken: number;
  /** The token the resource has accepted last, where it could be read. */
  readonly current?: number;

  constructor(resource: string, fencingToken: number, options: { current?: number; cause?: unknown } = {}) {
    const seen = options.current === undefined ? 'a newer one' : String(options.current);
    super({
      name: 'StaleFencingTokenError',
      code: 'FENCING_TOKEN_STALE',
      status: 409,
      message: `"${resource}" refused fencing token ${String(fencingToken)}: it has accepted ${seen}. Another holder is at work; stop, and acquire the lease again before the next write.`,
      publicMessage: 'A newer holder has already written; this write was refused.',
      cause: options.cause,
    });
    this.resource = resource;
    this.fencingToken = fencingToken;
    if (options.current !== undefined) this.current = options.current;
  }
}
