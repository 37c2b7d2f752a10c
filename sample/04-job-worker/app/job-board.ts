import type { JobClaim } from 'nestjs-lease';

/** Where the jobs are listed and their results are written: your database. */
export abstract class JobBoard {
  /** Ids of the jobs that are not done. */
  abstract open(): Promise<readonly string[]>;

  /**
   * Writes the result of a job, which is done from then on.
   * @throws StaleFencingTokenError when a newer claim of the job has written
   */
  abstract finish(claim: JobClaim, result: string): Promise<void>;
}
