import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import { refused, type FencedBy } from '../fenced-by.js';
import { refuses, type Fence } from '../fencing-guard.js';
import { fenceColumnNames, fenceColumns, type FenceColumnNames } from './fence-columns.js';
import { sqlClientOf } from './known-clients.js';
import { rowAssignments, rowCondition, type RowValues } from './row-values.js';
import type { SqlClient } from './sql-client.js';
import { quoteName, quoteTable, showTable, type TableName } from './sql-dialect.js';
import { explainSqlError, tooSmall } from './sql-errors.js';
import { raw, sql } from './sql-fragment.js';

/** The row that a fence stands on. */
export interface FencedRow {
  readonly table: TableName;
  /** Columns that identify the row, with their values; all must be equal. With several rows each is checked by itself, and those that refuse are left as they are. */
  readonly where: RowValues;
  /** Who writes: the lease itself. */
  readonly lease: FencedBy;
  /** Names of the fence columns, if they are not `fencing_token` and `fencing_holder`. */
  readonly columns?: FenceColumnNames | undefined;
}

/** A write that a newer holder's write rules out. */
export interface FencedUpdateOptions extends FencedRow {
  /** New values by column. Always sent as parameters; for an expression (`balance + 1`) write the statement yourself with `fenceColumns`. */
  readonly set: RowValues;
}

/**
 * Updates a row unless a newer holder has written it, and moves its fence along, in one statement (so also safe outside of
 * a transaction, and undone with yours inside one).
 * @param client see `sqlClientOf`; for Drizzle `drizzleClient(db, sql)`
 * @returns how many rows were updated; 0 when there is no such row
 * @throws StaleFencingTokenError when the row has accepted a newer holder; the lease counts as lost then
 * @throws LeaseOptionsError for a token or a fence column that cannot be compared
 */
export async function fencedUpdate(client: object, options: FencedUpdateOptions): Promise<number> {
  const db = sqlClientOf(client);
  const statement = updateStatement(db, options);
  const { token } = fenceColumnNames(options.columns);
  // Twice: a row that appears between the update and the look at it would be reported as missing, and it is not.
  for (let attempt = 1; ; attempt++) {
    const outcome = await guarded(options, () => db.run(statement));
    const first = outcome.rows[0];
    if (first !== undefined && Number(first.fence_token) !== options.lease.fencingToken) throw tooSmall(token, options.lease.fencingToken);
    if (outcome.affected > 0) return outcome.affected;
    const fence = await readFence(db, options);
    if (fence === undefined) return 0;
    // Without its flag FOUND_ROWS, MySQL counts only rows whose values have changed.
    if (db.dialect === 'mysql' && fence.token === options.lease.fencingToken) return 1;
    if (attempt === 2) return 0;
  }
}

/**
 * Why a statement of your own with `fenceColumns` has changed no row.
 * @returns `'no-such-row'`, or `'not-stale'` when the row is there and would accept the lease
 * @throws StaleFencingTokenError when the row has accepted a newer holder
 */
export async function explainNoRows(client: object, row: FencedRow): Promise<'no-such-row' | 'not-stale'> {
  return (await readFence(sqlClientOf(client), row)) === undefined ? 'no-such-row' : 'not-stale';
}

function updateStatement(db: SqlClient, options: FencedUpdateOptions): ReturnType<typeof sql> {
  const fence = fenceColumns(options.lease, { dialect: db.dialect, ...options.columns });
  const clash = Object.keys(fence.set).find((column) => column in options.set);
  if (clash !== undefined)
    throw new LeaseOptionsError('set', `The option "set" contains the fence column "${clash}", which fencedUpdate writes itself.`);
  const [token] = Object.keys(fence.set) as [string];
  // PostgreSQL tells what it has kept: a float column keeps another token than it was given.
  const returning = db.dialect === 'postgres' ? sql` RETURNING ${raw(quoteName(db.dialect, token))}::text AS fence_token` : raw('');
  const set = rowAssignments(db.dialect, { ...options.set, ...fence.set });
  return sql`UPDATE ${raw(quoteTable(db.dialect, options.table))} SET ${set} WHERE ${rowCondition(db.dialect, options.where)} AND ${fence.where}${returning}`;
}

/** The newest fence on the row; refuses the lease where the row does. */
async function readFence(db: SqlClient, row: FencedRow): Promise<Fence | undefined> {
  const names = fenceColumnNames(row.columns);
  const token = raw(quoteName(db.dialect, names.token));
  const holder = raw(quoteName(db.dialect, names.holder));
  const text = raw(db.dialect === 'postgres' ? 'TEXT' : 'CHAR');
  // In MySQL a plain SELECT would read the transaction's old snapshot, not the row that refused.
  const lock = raw(db.dialect === 'postgres' ? '' : ' LOCK IN SHARE MODE');
  const from = sql`FROM ${raw(quoteTable(db.dialect, row.table))} WHERE ${rowCondition(db.dialect, row.where)}`;
  const select = sql`SELECT CAST(${token} AS ${text}) AS fence_token, ${holder} AS fence_holder ${from} ORDER BY ${token} DESC LIMIT 1${lock}`;
  const { rows } = await guarded(row, () => db.run(select));
  const [seen] = rows;
  if (seen === undefined) return undefined;
  const fence = { token: Number(seen.fence_token ?? 0), holderTag: typeof seen.fence_holder === 'string' ? seen.fence_holder : '' };
  if (refuses(fence, row.lease.fencingToken, row.lease.holderTag)) throw refused(showTable(row.table), row.lease, { current: fence.token });
  return fence;
}

async function guarded<T>(row: FencedRow, job: () => Promise<T>): Promise<T> {
  try {
    return await job();
  } catch (error) {
    throw explainSqlError(error, row.lease, fenceColumnNames(row.columns).token);
  }
}
