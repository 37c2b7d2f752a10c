import type { Lease } from 'nestjs-lease';
import { ResultsClient } from '../app/results.client.js';

/** A `ResultsClient` that a scene can hold up just before its write leaves. */
export class FreezingResultsClient extends ResultsClient {
  private armed = false;

  constructor(
    url: string,
    private readonly freeze: () => Promise<void>,
  ) {
    super(url);
  }

  arm(): void {
    this.armed = true;
  }

  override async save(job: string, text: string, lease: Lease): Promise<void> {
    if (this.armed) {
      this.armed = false;
      await this.freeze();
    }
    return super.save(job, text, lease);
  }
}
