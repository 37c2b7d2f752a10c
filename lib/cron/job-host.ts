import type { ScheduledRunsPort } from '../lease/scheduled-instant.js';
import type { InjectableLease, LeaseExecutorPort } from '../metadata/leased-call.js';
import type { JobDefinition } from './job-definition.js';
import { runInstant, type JobBody } from './job-run.js';
import { JobRunner, type Activity } from './job-runner.js';

/** What one lease service gives to its scheduled jobs. */
export interface JobService {
  readonly port: ScheduledRunsPort;
  readonly executor: LeaseExecutorPort;
}

/** A job that lives: its runner, and who says whether it is started. */
export function hostJob(job: JobDefinition, body: JobBody, { port, executor }: JobService, active: () => Activity): JobRunner {
  return new JobRunner({
    ...{ job, port, active },
    run: (granted, instant) => runInstant(job, body, granted, executor, port, instant),
  });
}

/** The decorated method, called on its instance at each run, so that what stands around it counts as for any caller. */
export function methodBody(instance: object, method: string | symbol, site: string): JobBody {
  return { site, run: () => (instance as Record<string | symbol, () => unknown>)[method]?.() };
}

/** A plain function, which gets the lease. */
export function functionBody(name: string, fn: (lease: never) => unknown): JobBody {
  return { site: `the job "${name}"`, run: (lease: InjectableLease) => fn(lease as never) };
}
