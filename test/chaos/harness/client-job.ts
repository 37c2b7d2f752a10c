import { setTimeout as sleep } from 'node:timers/promises';
import { defineCron } from '../../../lib/cron/job-definition.js';
import { runInstant } from '../../../lib/cron/job-run.js';
import { JobRunner } from '../../../lib/cron/job-runner.js';
import type { LeaseRuntime } from '../../../lib/lease-runtime.js';
import { now, type Run } from './history.js';

/** The job of every second, which runs once for each instant in the whole fleet; one that crashed is not run again. */
export function runJob({ scheduledRuns: port, executor }: LeaseRuntime, tell: (run: Omit<Run, 'client'>) => void): JobRunner {
  const job = defineCron('@SingletonCron', '* * * * * *', { name: 'job', ttl: '800ms', timeZone: 'UTC', onCrash: 'skip' });
  const runner = new JobRunner({
    ...{ job, port, active: () => true },
    run: (granted, instant) => {
      const run = async (): Promise<void> => {
        tell({ instant, token: granted.fencingToken, at: now() });
        await sleep(30);
      };
      return runInstant(job, { site: 'Jobs.run', run }, granted, executor, port, instant);
    },
  });
  runner.open();
  return runner;
}
