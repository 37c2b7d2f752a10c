import type { InstantSchedule } from './instant-schedule.js';
import { refuseOption } from './refuse-option.js';

/**
 * An instant at every multiple of `everyMs` since the epoch: the same for all replicas, whenever each was started.
 *
 * @param everyMs whole milliseconds, at least one.
 * @throws LeaseOptionsError for the option `every`.
 */
export function intervalSchedule(everyMs: number): InstantSchedule {
  if (!Number.isSafeInteger(everyMs) || everyMs < 1) {
    throw refuseOption('every', everyMs, `must be a whole number of milliseconds above zero, such as '30s' in the decorator`);
  }
  return {
    description: `every ${String(everyMs)} ms`,
    shortestGapMs: everyMs,
    newestNotAfter: (nowMs) => Math.floor(nowMs / everyMs) * everyMs,
    nextAfter: (ms) => (Math.floor(ms / everyMs) + 1) * everyMs,
    longestGapMs: () => everyMs,
  };
}
