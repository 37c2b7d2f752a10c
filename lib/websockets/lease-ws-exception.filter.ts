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
    const answer = publicLeaseError(exception);
    const client = host.switchToWs().getClient<object>();
    // NestJS 11 only tells the server's own listeners there, and the client would wait for ever.
    if (isNativeSocket(client)) client.send(JSON.stringify({ event: 'exception', data: answer }));
    else super.catch(new WsException(answer), host);
  }
}

/** One of the `ws` package; those of Socket.IO have no `readyState`. */
function isNativeSocket(client: object): client is { send(data: string): void } {
  return 'readyState' in client && typeof client.readyState === 'number' && 'send' in client && typeof client.send === 'function';
}
