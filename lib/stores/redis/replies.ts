import {
  StoreError,
  type AcquireRequest,
  type Attended,
  type Busy,
  type Granted,
  type LeaseRecord,
  type Queued,
  type RenewResult,
} from '../lease-store.js';
import { unescapePart } from './keys.js';

/** Error for a key that holds something which is not ours; `what` says which of the two keys. */
export function foreign(lease: string, what: unknown): StoreError {
  if (what === 'fence')
    return new StoreError(
      'foreign',
      `the key "${lease}:fence" in Redis holds something that is not a fencing token; look at it, and delete it if it is not needed`,
    );
  return new StoreError(
    'foreign',
    `the key "${lease}" in Redis holds something that is not a lease; look at it, and delete it or choose another "namespace"`,
  );
}

/** Error for a reply that no script of ours gives. */
export function unreadable(reply: unknown): StoreError {
  return new StoreError('fatal', `Redis answered something that is not understood: ${JSON.stringify([reply])}`);
}

/**
 * Reply of `acquire` for one lease.
 * @throws StoreError `foreign`, `floor`, `fatal`
 */
export function readAcquire(reply: unknown, request: AcquireRequest, lease: string, serverTimeMs: number): Granted | Busy | Queued {
  if (typeof reply === 'number') return { kind: 'granted', fencingToken: reply, ttlMs: request.ttlMs, serverTimeMs };
  if (!Array.isArray(reply)) throw unreadable(reply);
  const [kind, remainingMs, fencingToken, tag, holder, ticket] = reply as [string, number, number, string, string, number];
  switch (kind) {
    case 'busy':
      return { kind, remainingMs, fencingToken, holder, holderTag: unescapePart(tag), serverTimeMs };
    case 'queued':
      return { kind, remainingMs, fencingToken, holder, holderTag: unescapePart(tag), serverTimeMs, ticket };
    case 'foreign':
      throw foreign(lease, remainingMs);
    case 'floor':
      throw new StoreError(
        'floor',
        `the token asked for on "${request.key}" (above ${String(request.floor)}) lies more than a day ahead of the clock of Redis: is it a fencing token of this store?`,
      );
    case 'full':
      throw new StoreError(
        'foreign',
        `the key "${lease}:fence" in Redis holds a number that is too high to be a fencing token; delete it to start again from the clock`,
      );
    default:
      throw unreadable(reply);
  }
}

/** Reply of `attend` for one lease. */
export function readAttended(reply: unknown): Attended {
  const [known, remainingMs, offered] = reply as [number, number, string];
  return { kind: known === 1 ? 'kept' : 'forgotten', remainingMs, ...(offered === '' ? {} : { offered: unescapePart(offered) }) };
}

/** Reply of `renew` for one lease. */
export function readRenew(reply: unknown, lease: string, serverTimeMs: number): RenewResult {
  if (reply === 1) return { kind: 'held', serverTimeMs };
  if (reply === 0) return { kind: 'gone' };
  const [kind, value] = Array.isArray(reply) ? (reply as [string, unknown]) : [];
  if (kind === 'taken') return { kind, fencingToken: Number(value) };
  return { kind: 'unknown', error: kind === 'foreign' ? foreign(lease, value) : unreadable(reply) };
}

/**
 * Reply of `inspect` and `force-release` for one lease.
 * @throws StoreError `foreign`, `fatal`
 */
export function readRecord(reply: unknown, key: string, lease: string): LeaseRecord | undefined {
  if (reply === 0) return undefined;
  if (!Array.isArray(reply)) throw unreadable(reply);
  const [kind, remainingMs, fencingToken, tag, since, state, holder, waiters] = reply as [
    ...[string, number, number, string, number, string, string, number],
  ];
  if (kind === 'foreign') throw foreign(lease, remainingMs);
  const known = STATES[state];
  if (kind !== 'record' || known === undefined) throw unreadable(reply);
  return { key, state: known, holder, holderTag: unescapePart(tag), fencingToken, since, remainingMs, waiters };
}

const STATES: Record<string, LeaseRecord['state']> = { h: 'held', r: 'reserved', c: 'cooldown' };
