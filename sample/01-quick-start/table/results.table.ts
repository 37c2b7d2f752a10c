import { MemoryFencingGuard } from 'nestjs-lease/fencing';

/** A row as a job writes it: the text, and who writes. */
export interface ResultRow {
  readonly text: string;
  readonly fencingToken: number;
  readonly holderTag: string;
}

/**
 * The protected resource. It stands for your database, where the guard is a condition in the UPDATE: it accepts a write with a
 * higher fencing token than the last one, or one more of the same holder, and nothing else.
 */
export class ResultsTable {
  private readonly rows = new Map<string, ResultRow>();
  private readonly guard = new MemoryFencingGuard();

  /** @throws StaleFencingTokenError */
  async save(job: string, row: ResultRow): Promise<void> {
    const { fencingToken, holderTag } = row;
    const key = `job:${job}`;
    await this.guard.write(key, { key, fencingToken, holderTag }, () => this.rows.set(job, row));
  }

  find(job: string): ResultRow | undefined {
    return this.rows.get(job);
  }
}
