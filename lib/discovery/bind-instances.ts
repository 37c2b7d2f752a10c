import { bindExecutor, executorOf } from '../metadata/bind-executor.js';
import { declarationsOn } from '../metadata/declaration.js';
import { ownMethod, prototypeChain } from '../metadata/member.js';
import type { Executors } from './registrations.js';
import { instancesOf, type Wrapper } from './wrappers.js';

/**
 * Gives the instances of `useFactory` and `useValue` their executors; Nest injects only into what it makes itself. An object that two
 * applications share belongs to the one that started last.
 */
export function bindInstances(wrapper: Wrapper, executors: Executors): void {
  for (const instance of instancesOf(wrapper)) {
    for (const service of servicesOf(instance)) {
      const executor = executors.get(service);
      if (executor && executorOf(instance, service) !== executor) bindExecutor(instance, executor, service);
    }
  }
}

/** Names of the services that the instance's leased methods ask, inherited ones included. */
export function servicesOf(instance: object): Set<string> {
  const services = new Set<string>();
  for (const prototype of prototypeChain(Object.getPrototypeOf(instance) as object | null)) {
    for (const name of Reflect.ownKeys(prototype)) {
      const method = ownMethod(prototype, name);
      for (const { service } of method ? declarationsOn(method) : []) services.add(service);
    }
  }
  return services;
}
