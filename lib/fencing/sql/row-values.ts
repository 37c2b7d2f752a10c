import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import { quoteName, type SqlDialect } from './sql-dialect.js';
import { joined, raw, sql, type SqlFragment } from './sql-fragment.js';

/** Values by column name. */
export type RowValues = Readonly<Record<string, unknown>>;

/**
 * The condition that finds the row: every column equal to its value (`null`: IS NULL).
 * @throws LeaseOptionsError when it is empty, and for values that are no plain SQL value
 */
export function rowCondition(dialect: SqlDialect, where: RowValues): SqlFragment {
  const entries = Object.entries(where);
  if (entries.length === 0) throw new LeaseOptionsError('where', 'The option "where" is empty: name the columns that identify the row.');
  const terms = entries.map(([column, value]) => {
    checkValue('where', column, value, true);
    const name = raw(quoteName(dialect, column));
    return value === null ? sql`${name} IS NULL` : sql`${name} = ${value}`;
  });
  return joined(terms, ' AND ');
}

/** The assignments of an UPDATE. */
export function rowAssignments(dialect: SqlDialect, set: RowValues): SqlFragment {
  const terms = Object.entries(set).map(([column, value]) => {
    // PostgreSQL has a meaning for arrays and objects; drivers of MySQL spell them out as SQL.
    checkValue('set', column, value, dialect === 'mysql');
    return sql`${raw(quoteName(dialect, column))} = ${value}`;
  });
  return joined(terms, ', ');
}

function checkValue(option: string, column: string, value: unknown, scalarOnly: boolean): void {
  const fail = (what: string): LeaseOptionsError =>
    new LeaseOptionsError(option, `The option "${option}" has ${what} for the column "${column}".`);
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') throw fail(`${typeof value}, which is no value,`);
  if (!scalarOnly || typeof value !== 'object' || value === null) return;
  const scalar = value instanceof Uint8Array || Object.prototype.toString.call(value) === '[object Date]';
  if (!scalar) throw fail(`an object${option === 'set' ? ' (write JSON.stringify(...) for a JSON column)' : ''}`);
}
