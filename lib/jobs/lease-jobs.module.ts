import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { getLeaseServiceToken } from '../lease.constants.js';
import type { LeaseService } from '../service/lease.service.js';
import { LeasedJobWorker } from './leased-job-worker.js';
import type { LeasedJobWorkerOptions } from './worker-options.js';

/** A worker that a module provides. */
export interface LeaseJobsFeature extends LeasedJobWorkerOptions {
  /** Name of the worker, where an application has several: `@InjectLeasedJobWorker(name)`. Default: injected by the class `LeasedJobWorker`. */
  readonly name?: string | undefined;
  /** Name of the lease service it claims by. Default: the default service. */
  readonly service?: string | undefined;
}

/** Injection token of the job worker `name`; without a name the class `LeasedJobWorker`. */
export function getLeasedJobWorkerToken(name?: string): string | typeof LeasedJobWorker {
  return name === undefined ? LeasedJobWorker : `lease:job-worker:${name}`;
}

/** Injects the worker that `LeaseJobsModule.forFeature({ name })` provides. */
export const InjectLeasedJobWorker = (name?: string): ParameterDecorator & PropertyDecorator => Inject(getLeasedJobWorkerToken(name));

/**
 * A `LeasedJobWorker` to inject, in the module that imports this. It drains by itself when the application shuts down.
 *
 * ```ts
 * @Module({ imports: [LeaseJobsModule.forFeature({ keyOf: (id) => `job:${id}`, ttl: 60, concurrency: 4 })], providers: [Poller] })
 * ```
 *
 * For options from elsewhere write a provider: `useFactory: (leases, config) => new LeasedJobWorker(leases, { ... })`.
 */
@Module({})
export class LeaseJobsModule {
  /** @throws LeaseOptionsError, at start-up */
  static forFeature({ name, service, ...options }: LeaseJobsFeature): DynamicModule {
    const token = getLeasedJobWorkerToken(name);
    const useFactory = (leases: LeaseService): LeasedJobWorker => new LeasedJobWorker(leases, options);
    return {
      module: LeaseJobsModule,
      providers: [{ provide: token, useFactory, inject: [getLeaseServiceToken(service)] }],
      exports: [token],
    };
  }
}
