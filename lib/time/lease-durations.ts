import { parseDuration } from './duration.js';

const DAY_MS = 86_400_000;
const TTL = { minMs: 100, maxMs: DAY_MS };
const WAIT = { zero: true, maxMs: DAY_MS };
const MAX_HOLD = { maxMs: 7 * DAY_MS };

/** Reads a ttl (100 ms to one day) as milliseconds. @throws LeaseOptionsError */
export const parseTtl = (value: unknown, option = 'ttl'): number => parseDuration(option, value, TTL);
/** Reads a wait (zero to one day) as milliseconds. @throws LeaseOptionsError */
export const parseWait = (value: unknown, option = 'wait'): number => parseDuration(option, value, WAIT);
/** Reads the longest time to hold (at most 7 days) as milliseconds. @throws LeaseOptionsError */
export const parseMaxHold = (value: unknown, option = 'maxHold'): number => parseDuration(option, value, MAX_HOLD);
