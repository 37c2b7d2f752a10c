/** Days since the epoch and the date of the calendar, in plain arithmetic: a `Date` for each day would dominate a search. */
export interface CivilDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

const DAYS_IN_ERA = 146_097;
/** From the first of March of the year 0 to the epoch; a year that starts in March has its leap day at the end. */
const EPOCH = 719_468;

/** Gregorian date of a day number. Method: Howard Hinnant, "chrono-compatible low-level date algorithms". */
export function civilOf(dayNumber: number): CivilDay {
  const z = dayNumber + EPOCH;
  const era = Math.floor(z / DAYS_IN_ERA);
  const dayOfEra = z - era * DAYS_IN_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1 };
}

/** Day number of a date; `month` may lie outside 1 to 12 by one. */
export function dayNumberOf(year: number, month: number, day: number): number {
  if (month > 12) return dayNumberOf(year + 1, month - 12, day);
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return era * DAYS_IN_ERA + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - EPOCH;
}

/** 0 is Sunday. */
export function weekdayOf(dayNumber: number): number {
  return (((dayNumber + 4) % 7) + 7) % 7;
}
