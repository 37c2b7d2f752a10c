import { parseCronFields } from './cron-fields.js';
import type { InstantSchedule } from './instant-schedule.js';
import { LocalTimes } from './local-times.js';
import { refuseOption } from './refuse-option.js';
import { WallClockSchedule } from './wall-clock-schedule.js';
import { resolveZone, type ZoneOptions } from './zone.js';

/**
 * The instants of what `@Cron` takes: an expression of five or six fields, a preset, or a `Date` for one single instant
 * (to which zone and offset mean nothing). What happens when clocks change is told at `WallClockSchedule`.
 *
 * @throws LeaseOptionsError naming `expression`, `timeZone` or `utcOffset`: unreadable, never due (`0 0 31 2 *`), unknown,
 * or both zone and offset.
 */
export function cronSchedule(expression: string | Date, options: ZoneOptions = {}): InstantSchedule {
  const zone = resolveZone(options);
  if (typeof expression !== 'string') return singleInstant(expression);
  const fields = parseCronFields(expression);
  if (new LocalTimes(fields).next(0) === undefined) {
    throw refuseOption(
      'expression',
      expression,
      'names no day that exists in any year, so it would never run: correct the day or the month',
    );
  }
  return new WallClockSchedule(fields, zone);
}

function singleInstant(date: Date): InstantSchedule {
  // Not instanceof: a Date of another realm is a Date.
  const at = Object.prototype.toString.call(date) === '[object Date]' ? date.getTime() : NaN;
  if (Number.isNaN(at)) throw refuseOption('expression', date, 'must be a cron expression or a valid Date');
  return {
    description: `once at ${new Date(at).toISOString()}`,
    shortestGapMs: Infinity,
    newestNotAfter: (nowMs) => (at <= nowMs ? at : undefined),
    nextAfter: (ms) => (at > ms ? at : undefined),
    longestGapMs: () => 0,
  };
}
