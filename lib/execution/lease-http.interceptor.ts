import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { catchError, type Observable } from 'rxjs';
import { hasLeaseErrorCode } from '../errors/lease-error.js';
import { ClientContext, type ClientResponse } from './client-context.js';

/**
 * Around every HTTP handler: tells the executor whose answer it works on, so that a wait ends when that client goes away, and
 * adds `Retry-After` (whole seconds, rounded up) to the answer of our errors, which go on unchanged.
 */
@Injectable()
export class LeaseHttpInterceptor implements NestInterceptor {
  constructor(
    @Inject(ClientContext) private readonly client: ClientContext,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const response = context.switchToHttp().getResponse<object>();
    return this.client
      .run(rawResponse(response), () => next.handle())
      .pipe(
        catchError((error: unknown) => {
          this.addRetryAfter(response, error);
          throw error;
        }),
      );
  }

  private addRetryAfter(response: object, error: unknown): void {
    if (!hasLeaseErrorCode(error) || !('retryAfterMs' in error) || typeof error.retryAfterMs !== 'number') return;
    const adapter = this.host.httpAdapter;
    if (adapter.isHeadersSent(response)) return;
    adapter.setHeader(response, 'Retry-After', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  }
}

/** Fastify wraps Node's response, Express extends it. */
function rawResponse(response: object): ClientResponse {
  return ('raw' in response ? response.raw : response) as ClientResponse;
}
