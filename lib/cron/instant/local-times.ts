import { civilOf, dayNumberOf, weekdayOf, type CivilDay } from './civil-day.js';
import type { CronFields } from './cron-fields.js';

const DAY_SECONDS = 86_400;
/** Longest stretch without a leap day is eight years; one more so that a search from any day of the year reaches it. */
export const SEARCH_DAYS = 9 * 366;

/**
 * The local times that an expression names, as if no clock was ever changed. A local time is written as the milliseconds
 * that UTC would show it at. Every search is bounded by nine years of days.
 */
export class LocalTimes {
  /** Seconds of the day of the first and the last time of a day. */
  readonly firstOfDay: number;
  readonly lastOfDay: number;
  private readonly dayOfMonthCounts: boolean;
  private readonly dayOfWeekCounts: boolean;

  constructor(private readonly fields: CronFields) {
    const { hour, minute, second, dayOfMonth, dayOfWeek } = fields;
    this.firstOfDay = hour.first * 3600 + minute.first * 60 + second.first;
    this.lastOfDay = hour.last * 3600 + minute.last * 60 + second.last;
    this.dayOfMonthCounts = dayOfMonth.size < 31;
    this.dayOfWeekCounts = dayOfWeek.size < 7;
  }

  /** The first local time not before `local`. */
  next(local: number): number | undefined {
    const seconds = Math.ceil(local / 1000);
    const day = Math.floor(seconds / DAY_SECONDS);
    const time = this.isDay(day, civilOf(day)) ? this.timeFrom(seconds - day * DAY_SECONDS) : -1;
    if (time >= 0) return (day * DAY_SECONDS + time) * 1000;
    const later = this.nextDay(day + 1);
    return later === undefined ? undefined : (later * DAY_SECONDS + this.firstOfDay) * 1000;
  }

  /** The last local time not after `local`. */
  previous(local: number): number | undefined {
    const seconds = Math.floor(local / 1000);
    const day = Math.floor(seconds / DAY_SECONDS);
    const time = this.isDay(day, civilOf(day)) ? this.timeUpTo(seconds - day * DAY_SECONDS) : -1;
    if (time >= 0) return (day * DAY_SECONDS + time) * 1000;
    const earlier = this.previousDay(day - 1);
    return earlier === undefined ? undefined : (earlier * DAY_SECONDS + this.lastOfDay) * 1000;
  }

  /** The first day, from `day` on, that the expression names. */
  nextDay(day: number): number | undefined {
    for (const end = day + SEARCH_DAYS; day < end;) {
      const civil = civilOf(day);
      if (!this.fields.month.has(civil.month)) day = dayNumberOf(civil.year, civil.month + 1, 1);
      else if (this.isDay(day, civil)) return day;
      else day++;
    }
    return undefined;
  }

  private previousDay(day: number): number | undefined {
    for (const end = day - SEARCH_DAYS; day > end;) {
      const civil = civilOf(day);
      if (!this.fields.month.has(civil.month)) day -= civil.day;
      else if (this.isDay(day, civil)) return day;
      else day--;
    }
    return undefined;
  }

  /** As cron does: day of month and day of week, both restricted, mean either. */
  private isDay(day: number, civil: CivilDay): boolean {
    const { month, dayOfMonth, dayOfWeek } = this.fields;
    if (!month.has(civil.month)) return false;
    const inMonth = dayOfMonth.has(civil.day);
    const inWeek = dayOfWeek.has(weekdayOf(day));
    return this.dayOfMonthCounts && this.dayOfWeekCounts ? inMonth || inWeek : inMonth && inWeek;
  }

  private timeFrom(seconds: number): number {
    const { hour, minute, second } = this.fields;
    const h = Math.floor(seconds / 3600);
    if (hour.has(h)) {
      const m = Math.floor(seconds / 60) % 60;
      const s = minute.has(m) ? second.ceil(seconds % 60) : -1;
      if (s >= 0) return h * 3600 + m * 60 + s;
      const laterMinute = minute.ceil(m + 1);
      if (laterMinute >= 0) return h * 3600 + laterMinute * 60 + second.first;
    }
    const laterHour = hour.ceil(h + 1);
    return laterHour < 0 ? -1 : laterHour * 3600 + minute.first * 60 + second.first;
  }

  private timeUpTo(seconds: number): number {
    const { hour, minute, second } = this.fields;
    const h = Math.floor(seconds / 3600);
    if (hour.has(h)) {
      const m = Math.floor(seconds / 60) % 60;
      const s = minute.has(m) ? second.floor(seconds % 60) : -1;
      if (s >= 0) return h * 3600 + m * 60 + s;
      const earlierMinute = minute.floor(m - 1);
      if (earlierMinute >= 0) return h * 3600 + earlierMinute * 60 + second.last;
    }
    const earlierHour = hour.floor(h - 1);
    return earlierHour < 0 ? -1 : earlierHour * 3600 + minute.last * 60 + second.last;
  }
}
