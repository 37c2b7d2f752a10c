import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLeaseError, LeasedJobWorker, type JobClaim } from 'nestjs-lease';
import { JobBoard } from './job-board.js';
import { Renderer } from './renderer.js';

/** How long to wait when nothing can be claimed. */
const POLL_MS = 100;

/** Works on whatever is open, as its replicas do. */
@Injectable()
export class JobRunner implements OnApplicationBootstrap {
  private readonly logger = new Logger(JobRunner.name);

  constructor(
    private readonly worker: LeasedJobWorker,
    private readonly board: JobBoard,
    private readonly renderer: Renderer,
  ) {}

  onApplicationBootstrap(): void {
    void this.loop();
  }

  private async loop(): Promise<void> {
    for (;;) {
      try {
        const claim = await this.worker.claimNext(await this.board.open());
        if (claim) void this.run(claim.jobId);
        else await sleep(POLL_MS);
      } catch (error) {
        // The application shuts down. What runs is waited for by itself.
        if (isLeaseError(error, 'LEASE_SHUTDOWN')) return;
        await sleep(POLL_MS);
      }
    }
  }

  private async run(jobId: string): Promise<void> {
    try {
      const outcome = await this.worker.run(jobId, (claim) => this.work(claim));
      if (outcome.kind === 'lost') this.logger.warn(`Job ${jobId} was lost: ${outcome.error.reason}. Another replica does it.`);
    } catch (error) {
      this.logger.error(`Job ${jobId} failed and will be tried again: ${String(error)}`);
    }
  }

  private async work(claim: JobClaim): Promise<void> {
    // Another replica may have done it between our look at the board and our claim.
    if (!(await this.board.open()).includes(claim.jobId)) return;
    const result = await this.renderer.render(claim);
    await this.board.finish(claim, result);
  }
}
