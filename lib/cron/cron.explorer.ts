import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { auditJob } from './audit-jobs.js';
import { findJobs, type FoundJob } from './find-jobs.js';
import { methodBody } from './job-host.js';
import { scheduleExplorers } from './schedule-explorers.js';
import { Scheduler } from './scheduler.js';
import { SingletonJobs } from './singleton-jobs.js';

/**
 * Finds the decorated jobs at start-up, refuses or warns of what would not run as declared, makes them known to
 * `@nestjs/schedule`, and runs them from the bootstrap of the application until it shuts down.
 */
@Injectable()
export class CronExplorer implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('LeaseModule');

  constructor(
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(SingletonJobs) private readonly jobs: SingletonJobs,
  ) {}

  /** @throws LeaseOptionsError for the first mistake found */
  onModuleInit(): void {
    const { jobs, warnings } = findJobs(this.modules);
    if (jobs[0] === undefined) return;
    const scheduler = Scheduler.of(this.moduleRef, jobs[0].site);
    for (const warning of [...warnings, ...this.warnOfSchedulers()]) this.logger.warn(warning);
    for (const found of jobs) this.add(found, scheduler);
  }

  onApplicationBootstrap(): void {
    this.jobs.open();
  }

  /** No instant is taken from here on; what runs is waited for later. */
  onModuleDestroy(): void {
    this.jobs.close();
  }

  private add(found: FoundJob, scheduler: Scheduler): void {
    const { job, instance, method, site } = found;
    const service = this.jobs.service(job, site);
    for (const warning of auditJob(found, service.port.ttlMs)) this.logger.warn(warning);
    if (!scheduler.wants(job) || (job.disabled && job.trigger.kind === 'interval')) return;
    // cron refuses a Date that has passed; ours may still be made up for.
    const past = job.schedule.nextAfter(service.port.clock.wall()) === undefined;
    const runner = this.jobs.host(job, methodBody(instance, method, site), service, past ? undefined : { scheduler, mounted: true });
    if (!past) scheduler.register(job, () => runner.wake());
  }

  private warnOfSchedulers(): string[] {
    const count = scheduleExplorers(this.modules).length;
    if (count < 2) return [];
    return [
      `ScheduleModule.forRoot() is imported ${String(count)} times: every @Cron of the application runs as often; a singleton job runs once all the same.`,
    ];
  }
}
