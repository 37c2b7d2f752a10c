import type { LeaseEvents } from '../events/lease-events.js';
import type { InstantOutcome } from '../lease/scheduled-instant.js';
import type { JobDefinition } from './job-definition.js';
import type { InstantSchedule } from './instant/instant-schedule.js';

/** Missed instants that are counted one by one; more are told as so many. */
const MOST_COUNTED = 1000;

/** Tells the events what became of the instants of one job. */
export class OutcomeTeller {
  /** Schedules of other replicas that were told. */
  private readonly others = new Set<string>();

  constructor(
    private readonly job: JobDefinition,
    private readonly events: LeaseEvents,
  ) {}

  /** `again`: it was asked about before, and then somebody ran it. */
  tell(instant: number, outcome: InstantOutcome, again = false): void {
    const { events } = this;
    const about = { key: this.job.key, instant };
    if ('otherSchedule' in outcome && outcome.otherSchedule !== undefined) this.tellMismatch(outcome.otherSchedule);
    switch (outcome.kind) {
      case 'granted':
        this.tellDown(outcome.previous, instant);
        return;
      case 'running':
        if (!again)
          events.emit({ type: 'skipped', ...about, state: 'running', fencingToken: outcome.fencingToken, holder: outcome.holder });
        return;
      case 'missed': {
        const { missed, fencingToken, holder } = outcome;
        events.emit({ type: 'instant-missed', ...about, reason: 'held', missed, fencingToken, holder });
        return;
      }
      case 'done': {
        const by = outcome.by && { fencingToken: outcome.by.fencingToken, holder: outcome.by.holder };
        // At its start a replica only looks: nothing of that is news.
        if (outcome.state === 'new' || outcome.state === 'skipped' || (again && outcome.state !== 'crashed')) return;
        events.emit({ type: 'skipped', ...about, state: outcome.state, ...by });
        return;
      }
      case 'unavailable':
        events.emit({ type: 'instant-unavailable', ...about, error: outcome.error });
        return;
      case 'early':
      case 'stopped':
    }
  }

  private tellMismatch(theirs: string): void {
    if (this.others.has(theirs)) return;
    this.others.add(theirs);
    this.events.emit({ type: 'schedule-mismatch', key: this.job.key, ours: this.job.schedule.description, theirs });
  }

  /** Instants between the last one that was decided and this one came when nobody was there. */
  private tellDown(previous: number | undefined, instant: number): void {
    if (previous === undefined) return;
    const { missed, newest } = between(this.job.schedule, previous, instant);
    if (missed > 0) this.events.emit({ type: 'instant-missed', key: this.job.key, instant: newest, reason: 'down', missed });
  }
}

function between(schedule: InstantSchedule, after: number, before: number): { missed: number; newest: number } {
  let [missed, newest] = [0, after];
  for (
    let next = schedule.nextAfter(after);
    next !== undefined && next < before && missed < MOST_COUNTED;
    next = schedule.nextAfter(next)
  ) {
    missed++;
    newest = next;
  }
  return { missed, newest };
}
