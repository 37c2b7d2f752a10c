import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import { fenceColumnNames, type FenceColumnNames } from './fence-columns.js';
import { FENCE_TABLE, LONGEST_RESOURCE } from './fence-table.js';
import { sqlClientOf } from './known-clients.js';
import type { SqlClient } from './sql-client.js';
import { quoteName, quoteTable, showTable, tableParts, type SqlDialect, type TableName } from './sql-dialect.js';
import { tooSmall } from './sql-errors.js';
import { raw, sql } from './sql-fragment.js';
import { LONGEST_HOLDER_TAG } from '../fenced-by.js';

/** For a migration: adds the two fence columns to a table of yours. They need no index: the row is found by its own key, and an index on them would only slow each write. */
export function fenceColumnsSql(dialect: SqlDialect, table: TableName, names: FenceColumnNames = {}): string {
  const { token, holder } = fenceColumnNames(names);
  const add = `ADD COLUMN ${quoteName(dialect, token)} BIGINT NOT NULL DEFAULT 0, ADD COLUMN ${quoteName(dialect, holder)} ${tagType(dialect)} NOT NULL DEFAULT ''`;
  return `ALTER TABLE ${quoteTable(dialect, table)} ${add}`;
}

/** For a migration: creates the fence table; its primary key is the index it needs. */
export function fenceTableSql(dialect: SqlDialect, table: TableName = FENCE_TABLE): string {
  const name = (column: string): string => quoteName(dialect, column);
  // Byte for byte: in the usual collations of MySQL `Order` and `order` are one resource.
  const exact = dialect === 'mysql' ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : '';
  const resource = `${name('resource')} VARCHAR(${String(LONGEST_RESOURCE)})${exact} NOT NULL PRIMARY KEY`;
  const fence = `${name('fencing_token')} BIGINT NOT NULL, ${name('fencing_holder')} ${tagType(dialect)} NOT NULL`;
  return `CREATE TABLE ${quoteTable(dialect, table)} (${resource}, ${fence})${dialect === 'mysql' ? ' ENGINE=InnoDB' : ''}`;
}

function tagType(dialect: SqlDialect): string {
  const exact = dialect === 'mysql' ? ' CHARACTER SET ascii COLLATE ascii_bin' : '';
  return `VARCHAR(${String(LONGEST_HOLDER_TAG)})${exact}`;
}

/** Which columns to look at. */
export interface CheckFenceColumnsOptions {
  readonly table: TableName;
  readonly columns?: FenceColumnNames | undefined;
}

/**
 * Looks at the real schema, best at start-up: INT columns (which MySQL without a strict mode fills with 2147483647 silently)
 * and floats are found before the first write.
 * @throws LeaseOptionsError unless both columns exist and the token's is BIGINT (or a NUMERIC without fraction)
 */
export async function checkFenceColumns(client: object, options: CheckFenceColumnsOptions): Promise<void> {
  const db = sqlClientOf(client);
  const names = fenceColumnNames(options.columns);
  const types = await columnTypes(db, options.table);
  for (const column of [names.token, names.holder]) {
    if (!types.has(column))
      throw new LeaseOptionsError(
        'table',
        `The table "${showTable(options.table)}" has no column "${column}", or does not exist: see fenceColumnsSql().`,
      );
  }
  const type = types.get(names.token) as string;
  if (!/^(bigint|numeric(\((1[6-9]|[2-9]\d)(,0)?\))?$|decimal\((1[6-9]|[2-9]\d)(,0)?\)$)/i.test(type))
    throw tooSmall(names.token, undefined, undefined, `the type ${type}`);
}

async function columnTypes(db: SqlClient, table: TableName): Promise<Map<string, string>> {
  const postgres = sql`SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = to_regclass(${quoteTable(db.dialect, table)}) AND attnum > 0 AND NOT attisdropped`;
  const parts = tableParts(table);
  const schema = parts.length > 1 ? sql`${parts.at(-2)}` : raw('DATABASE()');
  const mysql = sql`SELECT COLUMN_NAME AS name, COLUMN_TYPE AS type FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ${schema} AND TABLE_NAME = ${parts.at(-1)}`;
  const { rows } = await db.run(db.dialect === 'postgres' ? postgres : mysql);
  return new Map(rows.map((row) => [String(row.name), String(row.type)]));
}
