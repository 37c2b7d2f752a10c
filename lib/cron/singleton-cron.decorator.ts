import { declareJob } from './job-declaration.js';
import { defineCron } from './job-definition.js';
import type { SingletonCronOptions, SingletonCronTime } from './singleton-options.js';

/**
 * `@Cron` of `@nestjs/schedule`, run once in the whole fleet for each scheduled instant, whatever the clocks of the replicas say,
 * and never twice at once. The store's clock decides, and grants the run and remembers the instant in one step. See
 * {@link SingletonCronOptions} for what happens to runs that are too long, fail or crash, and to a fleet that was down.
 *
 * ```ts
 * @SingletonCron('0 3 * * *', { name: 'nightly-report', ttl: 60, timeZone: 'Europe/Berlin' })
 * async nightly(@FencingToken() token: number) {}
 * ```
 *
 * Several on one method all count. A direct call of the method is an ordinary `@WithLease` call of the topmost job's key
 * (`cron:<name>`): it records no instant, returns a promise, and is refused with `LeaseBusyError` while the job runs.
 *
 * @param time an expression of five or six fields, a `CronExpression`, or a `Date` for one single run. Where clocks change: a
 * time of the day that occurs twice runs at the first, hourly or finer expressions run through both; one that is skipped runs at
 * the first instant after the gap.
 * @throws LeaseOptionsError at decoration: an unreadable expression, an option, a static method, an accessor.
 */
export function SingletonCron(time: SingletonCronTime, options: SingletonCronOptions): MethodDecorator {
  const job = defineCron('@SingletonCron', time, options);
  return (target, method, descriptor) => declareJob(target, method, descriptor, job);
}
