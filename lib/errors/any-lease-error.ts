import { HttpException } from '@nestjs/common';
import { hasLeaseErrorCode, type LeaseError, type LeaseErrorBody } from './lease-error.js';

/** For `@Catch()`: stands for every error of this library, by code, whichever copy of this package made it. */
// A class is what `@Catch()` takes.
// eslint-disable-next-line @typescript-eslint/no-extraneous-class
export abstract class AnyLeaseError {
  static [Symbol.hasInstance](error: unknown): boolean {
    return hasLeaseErrorCode(error);
  }
}

/** What a client may be told: code, waiting time and a message without key or holder, in the form of Nest's own answers. */
export interface PublicLeaseError extends LeaseErrorBody {
  readonly status: 'error';
  readonly message: string;
}

export function publicLeaseError(error: LeaseError): PublicLeaseError {
  const { retryAfterMs } = error as LeaseError & { retryAfterMs?: unknown };
  const body = error instanceof HttpException ? error.getResponse() : undefined;
  const message = typeof body === 'object' && 'message' in body ? String(body.message) : 'Internal server error';
  return { status: 'error', code: error.code, message, ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}) };
}
