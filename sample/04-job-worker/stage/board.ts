import type { JobClaim } from 'nestjs-lease';
import { MemoryFencingGuard } from 'nestjs-lease/fencing';
import type { Link } from '../../common/link.js';
import type { Timeline } from '../../common/timeline.js';
import { JobBoard } from '../app/job-board.js';

/** Who writes, as it crosses from one process to another. */
export interface Writer {
  readonly name: string;
  readonly jobId: string;
  readonly fencingToken: number;
  readonly holderTag: string;
}

/** The board of this sample, in memory, with the fence that a database would have on each row. */
export class Board {
  /** Names of the replicas whose result of each job was accepted. */
  readonly results = new Map<string, string[]>();
  private readonly guard = new MemoryFencingGuard();
  private opened = false;

  constructor(
    private readonly jobs: readonly string[],
    private readonly timeline: Timeline,
  ) {}

  /** Until then there is nothing to do, so that all replicas begin together. */
  begin(): void {
    this.opened = true;
    this.timeline.begin();
  }

  open(): string[] {
    return this.left().filter(() => this.opened);
  }

  /** Jobs that are not done. */
  left(): string[] {
    return this.jobs.filter((id) => !this.results.has(id));
  }

  async finish({ name, jobId, fencingToken, holderTag }: Writer): Promise<void> {
    const key = `video:${jobId}`;
    await this.guard.write(key, { key, fencingToken, holderTag }, () => {
      this.results.set(jobId, [...(this.results.get(jobId) ?? []), name]);
      this.timeline.line(name, `has done job ${jobId}, ${this.left().length} to go`);
    });
  }
}

function writer(name: string, { jobId, lease }: JobClaim): Writer {
  return { name, jobId, fencingToken: lease.fencingToken, holderTag: lease.holderTag };
}

/** The board as a replica in the same process sees it, until that has crashed. */
export class LocalBoard extends JobBoard {
  crashed = false;

  constructor(
    private readonly name: string,
    private readonly board: Board,
  ) {
    super();
  }

  async open(): Promise<readonly string[]> {
    await this.alive();
    return this.board.open();
  }

  async finish(claim: JobClaim): Promise<void> {
    await this.alive();
    await this.board.finish(writer(this.name, claim));
  }

  private alive(): Promise<void> {
    return this.crashed ? new Promise(() => undefined) : Promise.resolve();
  }
}

/** The board as a replica in a process of its own sees it. */
export class RemoteBoard extends JobBoard {
  constructor(
    private readonly name: string,
    private readonly link: Link,
  ) {
    super();
  }

  open(): Promise<readonly string[]> {
    return this.link.call('open');
  }

  finish(claim: JobClaim): Promise<void> {
    return this.link.call('finish', writer(this.name, claim));
  }
}
