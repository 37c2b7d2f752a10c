import { Observable } from 'rxjs';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { DEFAULT_SERVICE } from '../lease.constants.js';
import type { ReturnShape } from './leased-call.js';

/** Why a leased method cannot run: it was called on something that has no executor. Nothing of the body has run. */
export function unboundError(site: string, service: string, instance: unknown): LeaseOptionsError {
  const name = service === DEFAULT_SERVICE ? '' : `{ name: '${service}' }`;
  if (instance === undefined || instance === null) {
    return new LeaseOptionsError(
      'service',
      `${site} was called without its instance, so there is no lease service to ask: call it on the instance, or bind it (this.method.bind(this)).`,
    );
  }
  return new LeaseOptionsError(
    'service',
    `${site} takes a lease, but its instance is not bound to a lease service yet. In an application: import LeaseModule.forRoot(${name}), let Nest make the instance ` +
      '(or provide it with useFactory or useValue), and call it neither in its constructor nor, if a factory made it, before app.init(). ' +
      "In a unit test without Nest: bindLease(instance, leases) of 'nestjs-lease/testing'.",
  );
}

/** The error in the shape of the result, so that the caller meets it where it would meet any other. */
export function failIn(shape: ReturnShape, error: Error): unknown {
  switch (shape) {
    case 'promise':
      return Promise.reject(error);
    case 'observable':
      return new Observable((subscriber) => {
        subscriber.error(error);
      });
    case 'iterable':
      return failingIterable(error);
  }
}

// eslint-disable-next-line require-yield, @typescript-eslint/require-await -- it fails on the first next()
async function* failingIterable(error: Error): AsyncGenerator<never> {
  throw error;
}
