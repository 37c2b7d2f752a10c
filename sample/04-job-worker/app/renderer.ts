import { Injectable } from '@nestjs/common';
import { setTimeout as work } from 'node:timers/promises';
import type { JobClaim } from 'nestjs-lease';

/** The work itself. */
@Injectable()
export class Renderer {
  /** Stops at once when the claim is lost. */
  async render({ jobId, signal }: JobClaim): Promise<string> {
    await work(200, undefined, { signal });
    return `video ${jobId}`;
  }
}
