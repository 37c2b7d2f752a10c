import { refuseOption } from './refuse-option.js';
import { ZoneTable } from './zone-table.js';

/** Where an expression is read. Not both. */
export interface ZoneOptions {
  /** Name in the IANA database (`'Europe/Berlin'`, `'UTC'`). Default: the zone of the process, recorded in the description. */
  readonly timeZone?: string | undefined;
  /** A fixed difference to UTC in **minutes**, as `@Cron` has it: no summer time. */
  readonly utcOffset?: number | undefined;
}

const MINUTE_MS = 60_000;
const MAX_OFFSET_MINUTES = 24 * 60 - 1;
const REMEDY = `write a name of the IANA database such as "Europe/Berlin" or "UTC", or a fixed difference as utcOffset in minutes`;

/**
 * The zone that the options name.
 * @throws LeaseOptionsError for an unknown zone, an unreadable offset, and both at once.
 */
export function resolveZone(options: ZoneOptions): ZoneTable {
  // As for cron, null is the same as left out.
  const timeZone = options.timeZone ?? undefined;
  const utcOffset = options.utcOffset ?? undefined;
  if (timeZone !== undefined && utcOffset !== undefined) {
    throw refuseOption('utcOffset', utcOffset, `cannot go with the option "timeZone" ("${timeZone}"): leave out one of the two`);
  }
  return utcOffset === undefined ? namedZone(timeZone ?? processZone()) : fixedZone(utcOffset);
}

function processZone(): string {
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone as string | undefined;
  return name === undefined || name === 'Etc/Unknown' ? 'UTC' : name;
}

function fixedZone(minutes: number): ZoneTable {
  if (!Number.isInteger(minutes) || Math.abs(minutes) > MAX_OFFSET_MINUTES) {
    throw refuseOption('utcOffset', minutes, 'must be a whole number of minutes below one day, such as 120 for +02:00');
  }
  const size = Math.abs(minutes);
  const [hours, rest] = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0')) as [string, string];
  return new ZoneTable(`UTC${minutes < 0 ? '-' : '+'}${hours}:${rest}`, () => minutes * MINUTE_MS);
}

function namedZone(name: string): ZoneTable {
  // Some versions of Node read "+02:00" as a zone and some do not; replicas must not differ by that.
  if (typeof name !== 'string' || !/^[a-z]/i.test(name)) throw refuseOption('timeZone', name, `is no time zone: ${REMEDY}`);
  return new ZoneTable(name, offsetProbe(name));
}

function offsetProbe(timeZone: string): (at: number) => number {
  const numeric = 'numeric';
  const format = formatter(timeZone, {
    timeZone,
    hourCycle: 'h23',
    era: 'short',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  return (at) => {
    const whole = Math.floor(at / 1000) * 1000;
    const part: Record<string, string> = {};
    for (const { type, value } of format.formatToParts(whole)) part[type] = value;
    const year = part.era?.startsWith('B') ? 1 - Number(part.year) : Number(part.year);
    const local = new Date(0);
    local.setUTCFullYear(year, Number(part.month) - 1, Number(part.day));
    local.setUTCHours(Number(part.hour), Number(part.minute), Number(part.second));
    return local.getTime() - whole;
  };
}

function formatter(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', options);
  } catch (cause) {
    throw refuseOption('timeZone', timeZone, `is no time zone that this Node knows: ${REMEDY}`, cause);
  }
}
