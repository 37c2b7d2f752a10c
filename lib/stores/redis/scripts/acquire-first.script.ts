import { acquireScript } from './acquire.script.js';
import { firstOf } from './lease-script.js';

/**
 * Tries one lease after the other, as `acquire` does, and stops at the first that is granted; what the same holder has already
 * (the call was sent twice) comes before all others.
 *
 * KEYS for each lease: lease, fence, queue, waiters
 * ARGV: retention, wake; for each lease: holderId, ttl, floor, about, line
 * Reply for each lease: the token | {'busy', remaining, token, tag, holder} | {'queued', remaining, token, tag, holder, ticket} | {'foreign', 'lease' or 'fence'} | {'floor'} | {'full'} | 0 not looked at
 */
export const acquireFirstScript = firstOf(acquireScript, 'acquire-first');
