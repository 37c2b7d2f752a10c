import type { CronFields } from './cron-fields.js';
import type { FieldSet } from './field-set.js';

/** The fields in normal form, always six: `*` for all values, else the values, three or more in a row as a range. */
export function describeFields(fields: CronFields): string {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = fields;
  const sizes: [FieldSet, number][] = [
    [second, 60],
    [minute, 60],
    [hour, 24],
    [dayOfMonth, 31],
    [month, 12],
    [dayOfWeek, 7],
  ];
  return sizes.map(([field, all]) => (field.size === all ? '*' : ranges(field.values))).join(' ');
}

function ranges(values: readonly number[]): string {
  const parts: string[] = [];
  for (let from = 0; from < values.length;) {
    let to = from;
    while (values[to + 1] === (values[to] as number) + 1) to++;
    if (to - from < 2) to = from;
    parts.push(to === from ? String(values[from]) : `${String(values[from])}-${String(values[to])}`);
    from = to + 1;
  }
  return parts.join(',');
}
