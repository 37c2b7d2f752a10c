import type { CronFields } from './cron-fields.js';
import { SEARCH_DAYS, type LocalTimes } from './local-times.js';

/** Distances between neighbouring local times, in milliseconds. */
export interface Gaps {
  readonly shortest: number;
  readonly longest: number;
}

const DAY_SECONDS = 86_400;

/** The shortest and the longest gap within nine years from `fromDay` (days since the epoch), clocks never changed. */
export function measureGaps(fields: CronFields, times: LocalTimes, fromDay: number): Gaps {
  let { shortest, longest } = gapsInDay(fields);
  const night = times.firstOfDay - times.lastOfDay;
  let day = times.nextDay(fromDay);
  while (day !== undefined && day < fromDay + SEARCH_DAYS) {
    const next = times.nextDay(day + 1);
    if (next === undefined) break;
    const gap = (next - day) * DAY_SECONDS + night;
    shortest = Math.min(shortest, gap);
    longest = Math.max(longest, gap);
    day = next;
  }
  return { shortest: shortest * 1000, longest: longest * 1000 };
}

function gapsInDay({ hour, minute, second }: CronFields): Gaps {
  let [shortest, longest] = [Infinity, 0];
  const see = (gap: number): void => {
    shortest = Math.min(shortest, gap);
    longest = Math.max(longest, gap);
  };
  second.values.forEach((value, index) => index > 0 && see(value - (second.values[index - 1] as number)));
  let previous: number | undefined;
  for (const h of hour.values) {
    for (const m of minute.values) {
      const start = h * 3600 + m * 60;
      if (previous !== undefined) see(start + second.first - (previous + second.last));
      previous = start;
    }
  }
  return { shortest, longest };
}
