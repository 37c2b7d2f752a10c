import type { GrantedInstant, ScheduledRunsPort } from '../lease/scheduled-instant.js';
import type { LeaseExecutorPort, InjectableLease } from '../metadata/leased-call.js';
import type { JobDefinition } from './job-definition.js';

/** What a job runs: the decorated method on its instance, or a function. */
export interface JobBody {
  /** For messages: `Reports.nightly`. */
  readonly site: string;
  run(lease: InjectableLease): unknown;
}

/** Runs one instant that was granted, through the executor as every leased call; how it goes is written with the release. Never rejects. */
export async function runInstant(
  job: JobDefinition,
  body: JobBody,
  granted: GrantedInstant,
  executor: LeaseExecutorPort,
  port: ScheduledRunsPort,
  instant: number,
): Promise<void> {
  const { run, lease, fencingToken } = granted;
  const began = port.clock.monotonic();
  const invoke = async (held: InjectableLease): Promise<void> => {
    run.outcome = 'interrupted';
    try {
      // What it gives back is dropped, as by @Cron.
      await body.run(held);
      run.outcome = 'ok';
    } catch (error) {
      run.outcome = 'failed';
      throw error;
    }
  };
  try {
    await executor.run({ site: body.site, key: () => job.key, options: {}, returns: 'promise', lease, invoke });
  } catch (error) {
    const heldMs = Math.round(port.clock.monotonic() - began);
    port.events.emit({ type: 'run-failed', key: job.key, instant, fencingToken, error, heldMs });
  }
}
