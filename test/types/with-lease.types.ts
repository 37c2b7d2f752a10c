/**
 * What must and must not compile. Nothing here runs: the type check of the repository fails when an expectation breaks, since an
 * unused `@ts-expect-error` is an error too.
 */
/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/require-await, @typescript-eslint/no-unused-vars */
import { applyDecorators, SetMetadata } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { CurrentLease } from '../../lib/decorators/current-lease.decorator.js';
import { FencingToken } from '../../lib/decorators/fencing-token.decorator.js';
import { injected } from '../../lib/decorators/injected.js';
import { LeaseKey } from '../../lib/decorators/lease-key.decorator.js';
import { WithLease } from '../../lib/decorators/with-lease.decorator.js';
import type { WithLeaseOptions } from '../../lib/decorators/with-lease-options.js';
import type { Lease } from '../../lib/lease/lease.js';

declare const anything: any;
declare const fromElsewhere: WithLeaseOptions;

export class Compiles {
  @WithLease('job:<id>')
  async promise(id: string): Promise<string> {
    return id;
  }

  @WithLease('job:<id>', { ttl: 60, wait: '5s', maxHold: '1h', reentry: 'error', service: 'billing' })
  async everyOption(id: string): Promise<void> {}

  @WithLease('job:<id>')
  observable(id: string): Observable<number> {
    return anything as Observable<number>;
  }

  @WithLease('job:<id>')
  async *generator(id: string): AsyncGenerator<number> {
    yield 1;
  }

  @WithLease('job:<id>', { returns: 'iterable' })
  iterable(id: string): AsyncIterable<number> {
    return anything as AsyncIterable<number>;
  }

  @WithLease('job:<id>')
  anyResult(id: string): any {
    return id;
  }

  @WithLease((id: string) => `job:${id}`)
  async functionKey(id: string): Promise<void> {}

  @WithLease((...args) => args.join(':'))
  async functionOfAll(id: string): Promise<void> {}

  @WithLease('job', fromElsewhere)
  async optionsFromElsewhere(): Promise<void> {}

  @WithLease('job', { onBusy: 'skip' })
  async skipVoid(): Promise<void> {}

  @WithLease('job', { onBusy: 'skip' })
  async skipUndefined(): Promise<number | undefined> {
    return 1;
  }

  @WithLease('job', { onBusy: 'skip', skipValue: 0 })
  async skipWithValue(): Promise<number> {
    return 1;
  }

  @WithLease('job', { onBusy: 'skip' })
  skipAny(): any {
    return 1;
  }

  @WithLease('job', { onBusy: 'skip' })
  skipOptionalStream(): Observable<number | undefined> {
    return anything as Observable<undefined>;
  }

  @WithLease('account:<id>')
  async injectedParameters(
    @LeaseKey('id') id: string,
    @FencingToken() token: number = injected(),
    @CurrentLease() lease: Lease = injected(),
  ): Promise<number> {
    return token + lease.fencingToken;
  }

  @WithLease('account:<id>')
  async otherNumberTypes(
    id: string,
    @FencingToken() token?: number,
    @FencingToken() whatever?: unknown,
    @FencingToken() untyped?: any,
  ): Promise<void> {}

  @WithLease('account')
  private async privateMethod(@FencingToken() token: number): Promise<void> {}
}

export class InsideOthers {
  @applyDecorators(WithLease('job'), SetMetadata('kind', 'job'))
  async run(): Promise<void> {}
}

export class DoesNotCompile {
  // @ts-expect-error a method that returns at once cannot hold a lease until it has finished
  @WithLease('job:<id>')
  synchronous(id: string): string {
    return id;
  }

  // @ts-expect-error nor can one that returns nothing
  @WithLease('job:<id>')
  synchronousVoid(id: string): void {}

  // @ts-expect-error nor a generator that is not async
  @WithLease('job:<id>')
  *synchronousGenerator(id: string): Generator<number> {
    yield 1;
  }

  // @ts-expect-error the caller of a skipped call would get an undefined that the type denies (ShedLock#200)
  @WithLease('job', { onBusy: 'skip' })
  async skipWithoutValue(): Promise<number> {
    return 1;
  }

  // @ts-expect-error the same in a stream
  @WithLease('job', { onBusy: 'skip' })
  skipStream(): Observable<number> {
    return anything as Observable<number>;
  }

  // @ts-expect-error an option that does not exist
  @WithLease('job', { timeout: 5 })
  async unknownOption(): Promise<void> {}

  // @ts-expect-error not one of its values
  @WithLease('job', { onBusy: 'ignore' })
  async unknownValue(): Promise<void> {}

  // @ts-expect-error a key function must return its key at once
  @WithLease(async (id: string) => id)
  async promisedKey(id: string): Promise<void> {}

  // @ts-expect-error not a method
  @WithLease('job')
  property = 1;

  @WithLease('job')
  async stringToken(
    id: string,
    // @ts-expect-error a fencing token is a number
    @FencingToken() token: string,
  ): Promise<void> {}

  @WithLease('job')
  async leaseToken(
    // @ts-expect-error a fencing token is a number, not a lease
    @FencingToken() token: Lease,
  ): Promise<void> {}
}
