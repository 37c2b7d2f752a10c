import { Inject, Injectable, Logger } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { LeaseShutdownError } from '../errors/lease-shutdown.error.js';
import { DEFAULT_SERVICE, getLeaseExecutorToken, getScheduledRunsToken } from '../lease.constants.js';
import type { Lease } from '../lease/lease.js';
import type { ScheduledRunsPort } from '../lease/scheduled-instant.js';
import type { LeaseExecutorPort } from '../metadata/leased-call.js';
import { auditTimes } from './audit-jobs.js';
import { defineCron, defineInterval, type JobDefinition } from './job-definition.js';
import { functionBody, hostJob, type JobService } from './job-host.js';
import type { JobBody } from './job-run.js';
import type { Activity, JobRunner } from './job-runner.js';
import { Scheduler } from './scheduler.js';
import type { SingletonCronOptions, SingletonCronTime, SingletonIntervalOptions } from './singleton-options.js';

/** A job that was made at run time. */
export interface SingletonJob {
  readonly name: string;
  /** Wakes the job: a due instant is asked for, as by its own timer, and nothing else. For a `CronJob` of the same name in `SchedulerRegistry`. */
  readonly tick: () => Promise<void>;
  /** Takes no further instant, and frees the name; what runs goes on. */
  stop(): void;
}

/** Where `SchedulerRegistry` may know a job from; `mounted`: it does, from the bootstrap of the application on. */
export interface Known {
  readonly scheduler: Scheduler;
  readonly mounted: boolean;
}

interface Hosted {
  readonly runner: JobRunner;
  readonly job: JobDefinition;
}

/**
 * The scheduled jobs of the application, and a way to make more of them at run time, with the guarantees of `@SingletonCron`.
 * Injectable.
 *
 * ```ts
 * const job = jobs.cron('0 6 * * *', { name: `digest:${tenant}`, ttl: 60 }, (lease) => digest(tenant, lease.fencingToken));
 * job.stop();
 * ```
 *
 * Such a job has timers of its own. Put a `CronJob` of the same name into `SchedulerRegistry`, and it is stopped, started and
 * deleted there: `registry.addCronJob(job.name, new CronJob('0 6 * * *', job.tick))`. Its ticks are only wake-ups.
 */
@Injectable()
export class SingletonJobs {
  private readonly logger = new Logger('LeaseModule');
  private readonly hosted = new Map<string, Hosted>();
  private state: 'starting' | 'open' | 'closed' = 'starting';

  /** @internal Made by `LeaseModule`. */
  constructor(@Inject(ModuleRef) private readonly moduleRef: ModuleRef) {}

  /** Runs `fn` under its lease at each instant of the expression, once in the whole fleet. @throws LeaseOptionsError, LeaseShutdownError */
  cron(time: SingletonCronTime, options: SingletonCronOptions, fn: (lease: Lease) => unknown): SingletonJob {
    return this.start(defineCron('SingletonJobs.cron()', time, options), fn);
  }

  /** Runs `fn` under its lease at every multiple of `every` since the epoch, once in the whole fleet. @throws LeaseOptionsError, LeaseShutdownError */
  interval(every: string, options: SingletonIntervalOptions, fn: (lease: Lease) => unknown): SingletonJob {
    return this.start(defineInterval('SingletonJobs.interval()', every, options), fn);
  }

  /** @internal What the job's lease service gives it. @throws LeaseOptionsError */
  service({ decorator, service }: JobDefinition, site: string): JobService {
    const port = this.find<ScheduledRunsPort>(getScheduledRunsToken(service));
    const executor = this.find<LeaseExecutorPort>(getLeaseExecutorToken(service));
    if (!port || !executor) {
      const wanted = service === DEFAULT_SERVICE ? 'without a name' : `"${service}"`;
      throw new LeaseOptionsError('service', `${decorator} on ${site} asks the lease service ${wanted}, which no module registered.`);
    }
    if (port.unsupported === undefined) return { port, executor };
    throw new LeaseOptionsError(
      'store',
      `${decorator} on ${site} needs a store that remembers instants, and the store ${port.unsupported} does not.`,
    );
  }

  /** @internal Takes a job in. @throws LeaseOptionsError for a name that is taken */
  host(job: JobDefinition, body: JobBody, service: JobService, known: Known | undefined): JobRunner {
    if (this.hosted.has(job.name)) {
      throw new LeaseOptionsError(
        'name',
        `There is a scheduled job "${job.name}" already: give each a name of its own, or stop that one first.`,
      );
    }
    const runner = hostJob(job, body, service, activity(job, known, service.port));
    this.hosted.set(job.name, { runner, job });
    if (this.state === 'open') runner.open();
    return runner;
  }

  /** @internal */
  open(): void {
    if (this.state !== 'starting') return;
    this.state = 'open';
    for (const { runner } of this.hosted.values()) runner.open();
  }

  /** @internal */
  close(): void {
    this.state = 'closed';
    for (const { runner } of this.hosted.values()) runner.close();
  }

  private start(job: JobDefinition, fn: (lease: Lease) => unknown): SingletonJob {
    const site = `the job "${job.name}"`;
    if (typeof fn !== 'function') throw new LeaseOptionsError('fn', `${job.decorator} was given no function to run for ${site}.`);
    if (this.state === 'closed') throw new LeaseShutdownError(job.key);
    const service = this.service(job, site);
    for (const warning of auditTimes(job, site, service.port.ttlMs)) this.logger.warn(warning);
    const scheduler = Scheduler.find(this.moduleRef);
    const runner = this.host(job, functionBody(job.name, fn), service, scheduler && { scheduler, mounted: false });
    const stop = (): void => {
      runner.close();
      if (this.hosted.get(job.name)?.runner === runner) this.hosted.delete(job.name);
    };
    return { name: job.name, tick: () => runner.wake(), stop };
  }

  private find<T>(token: string): T | undefined {
    try {
      return this.moduleRef.get<T>(token, { strict: false });
    } catch {
      return undefined;
    }
  }
}

/** A job that `SchedulerRegistry` knows follows it: stopped, started, and gone when it was deleted there. */
function activity(job: JobDefinition, known: Known | undefined, { clock }: ScheduledRunsPort): () => Activity {
  let seen = false;
  let begins: number | undefined;
  return () => {
    begins ??= clock.monotonic() + job.initialDelayMs;
    const started = known?.scheduler.started(job);
    if (started === undefined && seen) return 'gone';
    seen ||= started !== undefined;
    if (clock.monotonic() < begins || (started === undefined && known?.mounted)) return 'pending';
    return started ?? !job.disabled;
  };
}
