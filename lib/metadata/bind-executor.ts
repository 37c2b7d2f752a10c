import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import { DEFAULT_SERVICE, getLeaseExecutorToken } from '../lease.constants.js';
import type { LeaseExecutorPort } from './leased-call.js';

/** Reflect metadata on the instance, by service name: held weakly, leaves no property behind, works on frozen objects. */
const EXECUTOR_METADATA = 'lease:bound-executor';

/** One property for each service name, shared by every class and every copy of this package; Nest prints it when the module is missing. */
const executorProperty = (service: string): symbol =>
  Symbol.for(service === DEFAULT_SERVICE ? 'lease executor' : `lease executor of the service "${service}"`);

/** Gives an instance that Nest did not make the executor of its leased methods; a later call replaces an earlier one. */
export function bindExecutor(instance: object, executor: LeaseExecutorPort, service: string = DEFAULT_SERVICE): void {
  Reflect.defineMetadata(EXECUTOR_METADATA, executor, instance, executorProperty(service));
}

/** The executor that this instance is bound to; `undefined` when it has none yet. */
export function executorOf(instance: unknown, service: string = DEFAULT_SERVICE): LeaseExecutorPort | undefined {
  if (typeof instance !== 'object' || instance === null) return undefined;
  return Reflect.getMetadata(EXECUTOR_METADATA, instance, executorProperty(service)) as LeaseExecutorPort | undefined;
}

/**
 * Asks Nest to inject the executor of `service` into every instance of the class, in any scope and in subclasses. The accessor
 * hands what is injected on to `bindExecutor`, so that the instance itself gets no property.
 */
export function injectExecutor(prototype: object, service: string): void {
  const property = executorProperty(service);
  Inject(getLeaseExecutorToken(service))(prototype, property);
  if (property in prototype) return;
  Object.defineProperty(prototype, property, {
    configurable: true,
    enumerable: false,
    get(this: object) {
      return executorOf(this, service);
    },
    set(this: object, executor: LeaseExecutorPort) {
      bindExecutor(this, executor, service);
    },
  });
}
