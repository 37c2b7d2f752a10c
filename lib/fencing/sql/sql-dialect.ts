import { LeaseOptionsError } from '../../errors/lease-options.error.js';

/** `mysql` is MySQL and MariaDB. */
export type SqlDialect = 'postgres' | 'mysql';

/** A table: `'accounts'`, with its schema `'billing.accounts'`, or in parts where a name has a dot itself: `['billing', 'my.table']`. */
export type TableName = string | readonly string[];

/**
 * A quoted name that cannot end early, whatever it contains.
 * @throws LeaseOptionsError for an empty name and one with NUL or `?` (several drivers would take the latter for a parameter)
 */
export function quoteName(dialect: SqlDialect, name: string): string {
  if (typeof name !== 'string' || name === '' || /[\0?]/.test(name)) {
    throw new LeaseOptionsError(
      'table',
      `${JSON.stringify(name)} cannot be the name of a table or column here: it must not be empty, nor contain "?" or NUL.`,
    );
  }
  const quote = dialect === 'postgres' ? '"' : '`';
  return quote + name.replaceAll(quote, quote + quote) + quote;
}

/** The quoted name of a table, with its schema if one is given. */
export function quoteTable(dialect: SqlDialect, table: TableName): string {
  return tableParts(table)
    .map((part) => quoteName(dialect, part))
    .join('.');
}

/** A table's name as people write it; for messages. */
export function showTable(table: TableName): string {
  return tableParts(table).join('.');
}

/** `[schema, table]` or `[table]`. */
export function tableParts(table: TableName): readonly string[] {
  const parts = typeof table === 'string' ? table.split('.') : table;
  if (parts.length === 0) throw new LeaseOptionsError('table', 'The name of a table has no parts.');
  return parts;
}
