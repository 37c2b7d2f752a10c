import { createParamDecorator, Inject, Injectable, UseGuards, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { isLeaseError } from '../../errors/is-lease-error.js';
import { LeaseKeyError } from '../../errors/lease-key.error.js';
import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import { StaleFencingTokenError } from '../../errors/stale-fencing-token.error.js';
import type { FencedBy } from '../fenced-by.js';
import type { FencingGuard } from '../fencing-guard.js';
import { fencedByHeaders } from '../http/fencing-headers.js';
import { FENCING_GUARD } from './fencing.constants.js';

/** What is used of a request of Express or Fastify. */
export interface FencedHttpRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Names the resource that a request writes to; the same name for every request to it. */
export type FencedResource = string | ((request: FencedHttpRequest) => string);

/**
 * On a handler or controller of the service that is written to: a request passes only with fencing headers that the guard of
 * `FencingModule` accepts. 400 without them; 409 for a stale one, whose body has `code` and the `current` token. It is a
 * check at the door, before pipes and handler: a handler that takes its time hands the `@Fenced()` caller on to its own store.
 */
export function FencedRequest(resource: FencedResource): ClassDecorator & MethodDecorator {
  return UseGuards(fencedRequestGuard(resource));
}

/** The same as a guard class, for `@UseGuards()` and `APP_GUARD`. */
export function fencedRequestGuard(resource: FencedResource): Type<CanActivate> {
  @Injectable()
  class FencedRequestGuard implements CanActivate {
    constructor(@Inject(FENCING_GUARD) private readonly guard: FencingGuard) {}

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = requestOf(context);
      const { fencingToken, holderTag } = fencedByHeaders(request.headers);
      const name = nameOf(resource, request);
      try {
        await this.guard.accept(name, fencingToken, holderTag);
        return true;
      } catch (error) {
        if (!isLeaseError(error, 'FENCING_TOKEN_STALE')) throw error;
        throw new StaleFencingTokenError(name, fencingToken, { current: error.current, cause: error, tellCurrent: true });
      }
    }
  }
  return FencedRequestGuard;
}

/** Parameter: who writes, from the request's headers; give it to `fencedUpdate`, `acceptFence` or a guard as `lease`. */
export const Fenced: () => ParameterDecorator = createParamDecorator((_: unknown, context: ExecutionContext): FencedBy =>
  fencedByHeaders(requestOf(context).headers),
);

function requestOf(context: ExecutionContext): FencedHttpRequest {
  if (context.getType() === 'http') return context.switchToHttp().getRequest<FencedHttpRequest>();
  throw new LeaseOptionsError(
    'FencedRequest',
    `@FencedRequest reads HTTP headers; this handler is called by ${context.getType()}. Send the token in the message and call the guard's accept().`,
  );
}

function nameOf(resource: FencedResource, request: FencedHttpRequest): string {
  const name = typeof resource === 'string' ? resource : resource(request);
  if (typeof name === 'string' && name !== '') return name;
  throw new LeaseKeyError('The resource of @FencedRequest has no name for this request.');
}
