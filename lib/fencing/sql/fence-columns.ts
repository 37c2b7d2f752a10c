import { checkToken, type FencedBy } from '../fenced-by.js';
import { quoteName, quoteTable, type SqlDialect, type TableName } from './sql-dialect.js';
import { raw, sql, type SqlFragment } from './sql-fragment.js';

/** Names of the two columns that make a row refuse the stale. */
export interface FenceColumnNames {
  /** BIGINT; default `fencing_token`. */
  readonly token?: string | undefined;
  /** VARCHAR(64); default `fencing_holder`. */
  readonly holder?: string | undefined;
}

/** How a fence on a row is written. */
export interface FenceColumnsOptions extends FenceColumnNames {
  readonly dialect: SqlDialect;
  /** Qualifies the columns, for statements over several tables. Default: no qualifier. */
  readonly table?: TableName | undefined;
}

/** What an `UPDATE` of your own needs: put `set` into its SET and `where` into its WHERE. */
export interface FenceColumns {
  /** The two columns with their new values, by column name. */
  readonly set: Readonly<Record<string, number | string>>;
  /** True for a row that has accepted nothing newer; in brackets, so that it can stand after any `AND`. */
  readonly where: SqlFragment;
}

/** The column names with their defaults. */
export function fenceColumnNames(names: FenceColumnNames = {}): { token: string; holder: string } {
  return { token: names.token ?? 'fencing_token', holder: names.holder ?? 'fencing_holder' };
}

/**
 * The fence of one row as a condition and a column update, for statements that `fencedUpdate` cannot express. When such a
 * statement has changed no row, ask `explainNoRows` why.
 * @throws LeaseOptionsError for a token that cannot be compared, before any SQL is sent
 */
export function fenceColumns(lease: FencedBy, options: FenceColumnsOptions): FenceColumns {
  checkToken(lease.fencingToken, lease.holderTag);
  const names = fenceColumnNames(options);
  const prefix = options.table === undefined ? '' : `${quoteTable(options.dialect, options.table)}.`;
  const token = raw(prefix + quoteName(options.dialect, names.token));
  const holder = raw(prefix + quoteName(options.dialect, names.holder));
  return {
    set: { [names.token]: lease.fencingToken, [names.holder]: lease.holderTag },
    where: sql`(COALESCE(${token}, 0) < ${lease.fencingToken} OR (${token} = ${lease.fencingToken} AND ${holder} = ${lease.holderTag}))`,
  };
}
