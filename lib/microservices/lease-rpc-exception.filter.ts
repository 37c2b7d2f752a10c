import { Catch, type ArgumentsHost } from '@nestjs/common';
import { BaseRpcExceptionFilter, RpcException } from '@nestjs/microservices';
import type { Observable } from 'rxjs';
import { AnyLeaseError, publicLeaseError } from '../errors/any-lease-error.js';
import type { LeaseError } from '../errors/lease-error.js';

/**
 * Answers the errors of this library as an `RpcException` whose error is `{ status, code, message, retryAfterMs? }`, without key
 * or holder; other errors are left to your own filters. Bind it with `@UseFilters(LeaseRpcExceptionFilter)` or globally.
 */
@Catch(AnyLeaseError)
export class LeaseRpcExceptionFilter extends BaseRpcExceptionFilter {
  override catch(exception: LeaseError, host: ArgumentsHost): Observable<unknown> {
    return super.catch(new RpcException(publicLeaseError(exception)), host);
  }
}
