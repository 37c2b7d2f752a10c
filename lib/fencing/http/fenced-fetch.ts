import { refused, type FencedBy } from '../fenced-by.js';
import { fencingHeaders } from './fencing-headers.js';

/**
 * `fetch` with the fencing headers of `lease`.
 * @throws StaleFencingTokenError when the other service answers that it has accepted a newer holder; the lease counts as lost then
 */
export async function fencedFetch(lease: FencedBy, input: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(fencingHeaders(lease))) headers.set(name, value);
  const response = await fetch(input, { ...init, headers });
  if (response.status === 409) throwIfStale(lease, new URL(input).pathname, await bodyOf(response.clone()));
  return response;
}

/**
 * For another HTTP client: give it the body of a 409.
 * @param resource what was written to; for the message
 * @throws StaleFencingTokenError when the body says so; returns when the conflict is about something else
 */
export function throwIfStale(lease: FencedBy, resource: string, body: unknown): void {
  if (typeof body !== 'object' || body === null || !('code' in body) || body.code !== 'FENCING_TOKEN_STALE') return;
  const current = 'current' in body && typeof body.current === 'number' ? body.current : undefined;
  throw refused(resource, lease, { current });
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}
