import { declareJob } from './job-declaration.js';
import { defineInterval } from './job-definition.js';
import type { SingletonIntervalOptions } from './singleton-options.js';

/**
 * As `@SingletonCron`, at every multiple of `every` since the epoch: the same instants on every replica, whenever it was started.
 *
 * ```ts
 * @SingletonInterval('30s', { name: 'sync', ttl: '10s' })
 * async sync() {}
 * ```
 *
 * @param every a string with its unit, since `@Interval` reads a number as milliseconds: `'100ms'` to `'24d'`.
 * @throws LeaseOptionsError at decoration
 */
export function SingletonInterval(every: string, options: SingletonIntervalOptions): MethodDecorator {
  const job = defineInterval('@SingletonInterval', every, options);
  return (target, method, descriptor) => declareJob(target, method, descriptor, job);
}
