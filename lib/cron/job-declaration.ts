import 'reflect-metadata';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { JOBS_METADATA } from '../lease.constants.js';
import type { LeasedCallOptions } from '../metadata/leased-call.js';
import { siteOf } from '../metadata/member.js';
import { wrapMethod } from '../metadata/wrap-method.js';
import type { JobDefinition } from './job-definition.js';

/** The jobs that were declared on this very method, the topmost first. */
export function jobsDeclaredAt(prototype: object, method: string | symbol): readonly JobDefinition[] {
  return (Reflect.getOwnMetadata(JOBS_METADATA, prototype, method) as JobDefinition[] | undefined) ?? [];
}

/**
 * Declares a job on a method. The first one wraps the method, as `@WithLease` does: a direct call takes the lease of the topmost
 * job, and a scheduled run joins that of its own.
 * @throws LeaseOptionsError
 */
export function declareJob(
  target: object,
  method: string | symbol | undefined,
  descriptor: PropertyDescriptor | undefined,
  job: JobDefinition,
): void {
  const known = method === undefined ? undefined : (Reflect.getOwnMetadata(JOBS_METADATA, target, method) as JobDefinition[] | undefined);
  if (known) {
    refuseOtherService(known, job, siteOf(target, method as string | symbol));
    known.unshift(job);
    return;
  }
  const jobs = [job];
  const topmost = (): JobDefinition => jobs[0] ?? job;
  const declaration = wrapMethod(target, method, descriptor, {
    decorator: job.decorator,
    key: () => topmost().key,
    joins: (holds) => jobs.find(({ key }) => holds(key))?.key,
    service: job.service,
    options: optionsOf(topmost),
    skipsInSilence: false,
  });
  if (declaration.returns !== 'promise') {
    const { decorator, site } = declaration;
    throw new LeaseOptionsError(
      decorator,
      `${decorator} stands on ${site}, whose result nobody would read: make it a method that returns a promise.`,
    );
  }
  Reflect.defineMetadata(JOBS_METADATA, jobs, target, declaration.method);
}

/** Read at each call, since decorators above may add jobs. */
function optionsOf(topmost: () => JobDefinition): LeasedCallOptions {
  return {
    get ttl() {
      return topmost().ttl;
    },
    get maxHold() {
      return topmost().maxHold;
    },
  };
}

function refuseOtherService(known: readonly JobDefinition[], job: JobDefinition, site: string): void {
  if (known.every(({ service }) => service === job.service)) return;
  throw new LeaseOptionsError('service', `The jobs of ${site} name different lease services: a method belongs to one of them.`);
}
