import { StaleFencingTokenError, type Lease } from 'nestjs-lease';

/** Writes to the table of results, which is another service. */
export class ResultsClient {
  constructor(private readonly url: string) {}

  /** @throws StaleFencingTokenError when a newer holder has written */
  async save(job: string, text: string, lease: Lease): Promise<void> {
    const { fencingToken, holderTag } = lease;
    const response = await fetch(`${this.url}/results/${encodeURIComponent(job)}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text, fencingToken, holderTag }),
    });
    if (response.status === 409) throw new StaleFencingTokenError('results', fencingToken);
    if (!response.ok) throw new Error(`The table of results answered ${response.status}.`);
  }
}
