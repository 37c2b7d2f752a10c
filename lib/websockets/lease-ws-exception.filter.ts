import { Catch, type ArgumentsHost } from '@nestjs/common';
import { BaseWsExceptionFilter, WsException } from '@nestjs/websockets';
import { AnyLeaseError, publicLeaseError } from '../errors/any-lease-error.js';
import type { LeaseError } from '../errors/lease-error.js';

/**
 * Answers the errors of this library as a `WsException` whose error is `{ status, code, message, retryAfterMs? }`, without key or
 * holder; other errors are left to your own filters. Bind it with `@UseFilters(LeaseWsExceptionFilter)` on a gateway or a handler.
 */
@Catch(AnyLeaseError)
export class LeaseWsExceptionFilter extends BaseWsExceptionFilter {
  override catch(exception: LeaseError, host: ArgumentsHost): void {
    super.catch(new WsException(publicLeaseError(exception)), host);
  }
}
