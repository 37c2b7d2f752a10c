import { CronExpressionParser } from 'cron-parser';
import { FieldSet } from './field-set.js';
import { refuseOption } from './refuse-option.js';

/** A cron expression, read: which values each field allows. */
export interface CronFields {
  readonly second: FieldSet;
  readonly minute: FieldSet;
  readonly hour: FieldSet;
  readonly dayOfMonth: FieldSet;
  readonly month: FieldSet;
  /** 0 is Sunday. */
  readonly dayOfWeek: FieldSet;
  /** The minute field says "every" (a star, a step, all sixty) rather than naming minutes, and has more than one. */
  readonly everyMinute: boolean;
}

/** The presets that cron 4 takes, so that `@SingletonCron` takes what `@Cron` takes. */
const PRESETS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 0 1 1 *'],
  ['@monthly', '0 0 0 1 * *'],
  ['@weekly', '0 0 0 * * 0'],
  ['@daily', '0 0 0 * * *'],
  ['@hourly', '0 0 * * * *'],
  ['@minutely', '0 * * * * *'],
  ['@secondly', '* * * * * *'],
  ['@weekdays', '0 0 0 * * 1-5'],
  ['@weekends', '0 0 0 * * 0,6'],
]);
const FIELDS = ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const;
const RANGES = [
  [0, 59],
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;
/** One item of a list. Leaves out what the parser knows and cron does not: `L`, `W`, `#`, and `H`, which is random. */
const ITEM = /^(?:[*?]|(?:\d+|[a-z]{3})(?:-(?:\d+|[a-z]{3}))?)(?:\/\d+)?$/;
const MAX_LENGTH = 1000;

/**
 * Reads an expression of five fields, or of six with seconds in front, or a preset (`@daily`). Names (`MON`, `jan`) in any
 * case; `?` for `*` in the two day fields. The grammar is that of cron 4: a list may repeat itself, `5/10` runs to the end.
 *
 * @throws LeaseOptionsError for the option `expression`.
 */
export function parseCronFields(expression: string): CronFields {
  const raw = splitFields(expression);
  const field = (index: number): FieldSet => new FieldSet(fieldValues(expression, raw, index));
  const minute = field(1);
  const everyMinute = minute.size > 1 && (/[*/]/.test(raw[1] as string) || minute.size === 60);
  return { second: field(0), minute, hour: field(2), dayOfMonth: field(3), month: field(4), dayOfWeek: field(5), everyMinute };
}

/** Always six. */
function splitFields(expression: string): string[] {
  if (expression.length > MAX_LENGTH) {
    throw refuseOption('expression', `${expression.slice(0, 40)}...`, `is longer than ${String(MAX_LENGTH)} characters`);
  }
  const text = expression.trim().toLowerCase();
  const raw = (PRESETS.get(text) ?? text).split(/\s+/);
  if (raw.length === 5) return ['0', ...raw];
  if (raw.length === 6) return raw;
  const forms = 'must have five fields (minute hour day month weekday) or six with seconds in front';
  throw refuseOption('expression', expression, `${forms}, or be one of ${[...PRESETS.keys()].join(', ')}`);
}

/** Item by item, since the parser refuses a list that names a value twice and cron does not. */
function fieldValues(expression: string, raw: readonly string[], index: number): Set<number> {
  const field = FIELDS[index] as (typeof FIELDS)[number];
  const isDay = field === 'dayOfMonth' || field === 'dayOfWeek';
  const values = new Set<number>();
  for (const item of (raw[index] as string).split(',')) {
    if (!ITEM.test(item) || (item.startsWith('?') && !isDay)) throw unreadable(expression, field, item);
    for (const value of parseItem(expression, field, index, item)) values.add(field === 'dayOfWeek' ? value % 7 : value);
  }
  return values;
}

function parseItem(expression: string, field: (typeof FIELDS)[number], index: number, item: string): number[] {
  const [min, max] = RANGES[index] as (typeof RANGES)[number];
  if (item === '*' || item === '?') return Array.from({ length: max - min + 1 }, (_, step) => min + step);
  const alone = FIELDS.map((_, position) => (position === index ? item : '*')).join(' ');
  try {
    // A fixed date: the parser must not look at the clock here.
    const { fields } = CronExpressionParser.parse(alone, { currentDate: new Date(0), tz: 'UTC' });
    return fields[field].values.map(Number);
  } catch (error) {
    throw unreadable(expression, field, item, error);
  }
}

function unreadable(expression: string, field: string, item: string, cause?: unknown): Error {
  const why = typeof cause === 'object' && cause !== null && 'message' in cause ? `: ${String(cause.message)}` : '';
  return refuseOption(
    'expression',
    expression,
    `cannot be read: "${item}" is no value of the field ${field}${why}; write numbers, names (MON, JAN), ranges (1-5), lists (1,15) or steps (*/5)`,
    cause,
  );
}
