import { ResultsTable, type ResultRow } from '../table/results.table.js';
import type { Timeline } from './timeline.js';

/** The table of results, whose decisions are shown on the timeline. */
export class WatchedTable extends ResultsTable {
  constructor(private readonly timeline: Timeline) {
    super();
  }

  override async save(job: string, row: ResultRow): Promise<void> {
    const last = this.find(job)?.fencingToken;
    try {
      await super.save(job, row);
      this.timeline.line('table', `accepted the write of fencing token ${row.fencingToken} for job ${job}`);
    } catch (error) {
      this.timeline.line('table', `REFUSED the write of fencing token ${row.fencingToken} for job ${job}: it has accepted ${last}`);
      throw error;
    }
  }
}
