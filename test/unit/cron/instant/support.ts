import type { InstantSchedule } from '../../../../lib/cron/instant/instant-schedule.js';

/** Milliseconds of an ISO time; `Z` where no offset is given. */
export const at = (iso: string): number => Date.parse(/[Z+]|-\d\d:\d\d$/.test(iso) ? iso : `${iso}Z`);

/** ISO in UTC, to the minute where there are no seconds. */
export const iso = (ms: number | undefined): string =>
  ms === undefined ? 'never' : new Date(ms).toISOString().replace('.000Z', 'Z').replace(/:00Z$/, 'Z');

/** All instants from `from` to `to`, both included, asked for one by one. */
export function forwards(schedule: InstantSchedule, from: number, to: number): number[] {
  const found: number[] = [];
  for (let next = schedule.nextAfter(from - 1); next !== undefined && next <= to; next = schedule.nextAfter(next)) {
    if (found.length > 0 && next <= (found.at(-1) as number)) throw new Error(`nextAfter went from ${iso(found.at(-1))} to ${iso(next)}`);
    found.push(next);
  }
  return found;
}

/** The same, from the end backwards. */
export function backwards(schedule: InstantSchedule, from: number, to: number): number[] {
  const found: number[] = [];
  for (let last = schedule.newestNotAfter(to); last !== undefined && last >= from; last = schedule.newestNotAfter(last - 1)) {
    if (found.length > 0 && last >= (found[0] as number))
      throw new Error(`newestNotAfter(${iso((found[0] as number) - 1)}) is ${iso(last)}`);
    found.unshift(last);
  }
  return found;
}

/** The error that `make` throws. */
export function refusal(make: () => unknown): { code: string; option: string; message: string } {
  try {
    make();
  } catch (error) {
    return error as { code: string; option: string; message: string };
  }
  throw new Error('not refused');
}
