import { setTimeout as sleep } from 'node:timers/promises';
import { STATUS_CODES } from 'node:http';
import type { Replica } from './replica.js';

/** What a replica answered; `status` 0 when it did not. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: { readonly state?: string; readonly fencingToken?: number; readonly code?: string };
}

export async function ask(replica: Replica, method: 'GET' | 'POST', path: string): Promise<Answer> {
  try {
    const response = await fetch(replica.url + path, { method });
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    return { status: response.status, retryAfter, body: (await response.json()) as Answer['body'] };
  } catch {
    return { status: 0, retryAfter: undefined, body: {} };
  }
}

/** An answer in one line. */
export function show({ status, retryAfter, body }: Answer): string {
  if (status === 0) return 'no answer: the connection broke';
  const about = [body.code, retryAfter && `Retry-After: ${retryAfter}`, body.fencingToken && `fencing token ${body.fencingToken}`];
  return `${status} ${STATUS_CODES[status]} (${about.filter(Boolean).join(', ')})`;
}

/** Waits until `job` is being run, as `replica` sees it. */
export async function untilHeld(replica: Replica, job: string): Promise<void> {
  for (const until = performance.now() + 10_000; performance.now() < until;) {
    if ((await ask(replica, 'GET', `/jobs/${job}`)).body.state === 'held') return;
    await sleep(10);
  }
  throw new Error(`Nobody runs job ${job}, as ${replica.name} sees it.`);
}
