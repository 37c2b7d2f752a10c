import { ModulesContainer, type ModuleRef } from '@nestjs/core';
import { Cron, Interval, SchedulerRegistry } from '@nestjs/schedule';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import type { JobDefinition } from './job-definition.js';
import { explorerOf, scheduleExplorers, type ScheduleExplorerLike } from './schedule-explorers.js';

/** `@nestjs/schedule` of the application: what makes our jobs known there, and tells whether somebody has stopped one. */
export class Scheduler {
  private constructor(
    private readonly explorer: ScheduleExplorerLike,
    private readonly registry: SchedulerRegistry,
  ) {}

  /** That of the application, if it has one. */
  static find(modules: ModuleRef): Scheduler | undefined {
    const container = modules.get(ModulesContainer, { strict: false });
    if (scheduleExplorers(container).length === 0) return undefined;
    // Of several, the one that the application is given when it injects it.
    const registry = modules.get(SchedulerRegistry, { strict: false });
    const explorer = explorerOf(registry, container);
    return explorer && new Scheduler(explorer, registry);
  }

  /** @throws LeaseOptionsError where the application has no `ScheduleModule` */
  static of(modules: ModuleRef, needs: string): Scheduler {
    const scheduler = Scheduler.find(modules);
    if (scheduler) return scheduler;
    throw new LeaseOptionsError(
      'ScheduleModule',
      `${needs} is scheduled, but the application has no ScheduleModule: import ScheduleModule.forRoot() of '@nestjs/schedule'.`,
    );
  }

  /**
   * Hands the job to `@nestjs/schedule`, as if `tick` were a method decorated with `@Cron` or `@Interval`: it makes the job that
   * `SchedulerRegistry` gives out, and fails the start-up for a name that a `@Cron` has taken. Its ticks are only wake-ups.
   */
  register(job: JobDefinition, tick: () => Promise<void>): void {
    const host = { tick };
    const descriptor = Object.getOwnPropertyDescriptor(host, 'tick') as PropertyDescriptor;
    decoratorOf(job)(host, 'tick', descriptor);
    this.explorer.lookupSchedulers(host, 'tick');
  }

  /** False where `ScheduleModule.forRoot({ cronJobs: false })`, or `intervals: false`, turns off all jobs of this kind. */
  wants({ trigger }: JobDefinition): boolean {
    const { moduleOptions = {} } = this.explorer;
    return (trigger.kind === 'cron' ? moduleOptions.cronJobs : moduleOptions.intervals) !== false;
  }

  /** Whether the registry knows a job of this name, and whether it is started; `undefined` where it knows none. */
  started({ name, trigger, schedule }: JobDefinition): boolean | undefined {
    if (trigger.kind === 'interval') return this.registry.doesExist('interval', name) ? true : undefined;
    if (!this.registry.doesExist('cron', name)) return undefined;
    // A job for one single instant is not active any more when that has come.
    return schedule.shortestGapMs === Infinity || this.registry.getCronJob(name).isActive;
  }
}

function decoratorOf({ name, trigger, disabled }: JobDefinition): MethodDecorator {
  if (trigger.kind === 'interval') return Interval(name, trigger.everyMs);
  const { waitForCompletion, unrefTimeout, threshold, initialDelay, timeZone, utcOffset } = trigger.options;
  const options = { name, disabled, waitForCompletion, unrefTimeout, threshold, initialDelay, timeZone, utcOffset };
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return Cron(trigger.expression, given);
}
