import { HttpException } from '@nestjs/common';
import type { LeaseError, LeaseErrorBody, LeaseErrorCode } from './lease-error.js';

/** How a subclass describes itself to its base. */
export interface LeaseHttpErrorInit {
  readonly name: string;
  readonly code: LeaseErrorCode;
  readonly status: number;
  /** For logs: what happened, on which key, what to do. */
  readonly message: string;
  /** For clients: no key, no holder. */
  readonly publicMessage: string;
  readonly key?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The token a resource has accepted last, where a caller that presented one of its own may know it. */
  readonly current?: number | undefined;
  readonly cause?: unknown;
}

/**
 * Base of the errors of a running call. They extend Nest's `HttpException`, so an HTTP handler that lets one pass answers
 * with the right status without any filter of ours. The body carries `code` and `retryAfterMs` only; `message`, `key` and
 * `cause` are for logs.
 */
export abstract class LeaseHttpError extends HttpException implements LeaseError {
  abstract readonly code: LeaseErrorCode;
  readonly key?: string;
  /** Milliseconds after which a new try makes sense, where that is known. */
  readonly retryAfterMs?: number;

  protected constructor(init: LeaseHttpErrorInit) {
    const body: LeaseErrorBody & { statusCode: number; message: string } = {
      statusCode: init.status,
      message: init.publicMessage,
      code: init.code,
      ...(init.retryAfterMs === undefined ? {} : { retryAfterMs: init.retryAfterMs }),
      ...(init.current === undefined ? {} : { current: init.current }),
    };
    super(body, init.status, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = init.name;
    this.message = init.message;
    if (init.key !== undefined) this.key = init.key;
    if (init.retryAfterMs !== undefined) this.retryAfterMs = init.retryAfterMs;
  }
}
