import 'reflect-metadata';
import { formatDuration } from '../time/duration.js';
import type { FoundJob } from './find-jobs.js';
import type { JobDefinition } from './job-definition.js';

/** Metadata of `@Cron`, `@Interval` and `@Timeout` on a method. */
const SCHEDULER_TYPE = 'SCHEDULER_TYPE';

/** What will not do what was probably meant, one sentence each. `defaultTtlMs`: of the job's lease service. */
export function auditJob({ job, instance, method, site }: FoundJob, defaultTtlMs: number): string[] {
  const warnings = auditTimes(job, site, defaultTtlMs);
  const fn = (instance as Record<string | symbol, unknown>)[method];
  if (typeof fn === 'function' && Reflect.hasMetadata(SCHEDULER_TYPE, fn)) {
    warnings.push(
      `${site} has a @Cron, @Interval or @Timeout of @nestjs/schedule beside ${job.decorator}: that one calls it on every replica, and is refused while another has the lease "${job.key}".`,
    );
  }
  return warnings;
}

/** Times at odds with the period. */
export function auditTimes(job: JobDefinition, site: string, defaultTtlMs: number): string[] {
  const { decorator, name, schedule, atLeastForMs, maxHoldMs, rerun, ttlMs = defaultTtlMs } = job;
  const period = schedule.shortestGapMs;
  const about = `${decorator} on ${site} ("${name}", every ${formatDuration(period)})`;
  const warnings: string[] = [];
  if (ttlMs > period) {
    const lost = rerun ? ', and onCrash: "rerun" comes too late' : '';
    warnings.push(
      `${about}: a ttl of ${formatDuration(ttlMs)} is longer than the period: after a crash every instant within it is missed${lost}. Give a shorter ttl; it is renewed while the job runs.`,
    );
  }
  if (atLeastForMs >= period) {
    warnings.push(
      `${about}: atLeastFor of ${formatDuration(atLeastForMs)} keeps the lease over the next instant, which is then missed each time.`,
    );
  }
  if (maxHoldMs !== undefined && maxHoldMs < atLeastForMs) {
    warnings.push(`${about}: maxHold (${formatDuration(maxHoldMs)}) is shorter than atLeastFor (${formatDuration(atLeastForMs)}).`);
  }
  return warnings;
}
