import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import { checkToken, refused, type FencedBy } from '../fenced-by.js';
import type { Fence, FencingGuard } from '../fencing-guard.js';
import { sqlClientOf } from './known-clients.js';
import type { SqlClient, SqlOutcome } from './sql-client.js';
import { quoteName, quoteTable, type SqlDialect, type TableName } from './sql-dialect.js';
import { explainSqlError } from './sql-errors.js';
import { raw, sql, type SqlFragment } from './sql-fragment.js';

/** Name of the fence table unless you say otherwise. */
export const FENCE_TABLE = 'lease_fence';
/** Longest name of a resource in a fence table, in characters. */
export const LONGEST_RESOURCE = 255;

/** A fence in a table beside the data: for inserts, deletes, and work on several rows or tables. */
export interface AcceptFenceOptions {
  /** Name of what the transaction writes; usually the key of the lease (the default). At most 255 characters. */
  readonly resource?: string | undefined;
  readonly lease: FencedBy;
  /** The fence table (see `fenceTableSql`); default `lease_fence`. */
  readonly table?: TableName | undefined;
}

/**
 * Takes the lease past the fence of a resource, **first in the transaction that writes it**: the fence's row stays locked
 * until that ends, so nobody newer can come in between, and it is undone with the transaction.
 * @throws StaleFencingTokenError when the resource has accepted a newer holder; the lease counts as lost then
 * @throws LeaseOptionsError for a client outside of a transaction: a fence that commits before the write protects nothing
 */
export async function acceptFence(client: object, options: AcceptFenceOptions): Promise<void> {
  const db = sqlClientOf(client);
  if (db.inTransaction === false) throw notInTransaction();
  const outcome = await accept(db, { table: FENCE_TABLE, resource: options.lease.key, ...options });
  if (outcome.inTransaction === false) throw notInTransaction();
}

/** How the fence table of a guard is called. */
export interface SqlFencingGuardOptions {
  /** Default `lease_fence`. */
  readonly table?: TableName | undefined;
}

/** A fence table as a `FencingGuard`: a check at the door, for instance of an HTTP service. For the write itself use `acceptFence` in its transaction. */
export class SqlFencingGuard implements FencingGuard {
  private readonly table: TableName;

  /** @param client see `sqlClientOf` */
  constructor(
    private readonly client: object,
    options: SqlFencingGuardOptions = {},
  ) {
    this.table = options.table ?? FENCE_TABLE;
  }

  async accept(resource: string, token: number, holderTag: string): Promise<void> {
    await accept(sqlClientOf(this.client), { table: this.table, resource, lease: { key: resource, fencingToken: token, holderTag } });
  }
}

interface Accept {
  readonly table?: TableName | undefined;
  readonly resource?: string | undefined;
  readonly lease: FencedBy;
}

async function accept(db: SqlClient, request: Accept): Promise<SqlOutcome> {
  const { lease, table = FENCE_TABLE, resource = lease.key } = request;
  checkToken(lease.fencingToken, lease.holderTag);
  if (resource === '' || resource.length > LONGEST_RESOURCE) {
    throw new LeaseOptionsError(
      'resource',
      `The name of a resource has 1 to ${String(LONGEST_RESOURCE)} characters; this one has ${String(resource.length)}.`,
    );
  }
  const names = columnsOf(db.dialect, table);
  try {
    const outcome = await db.run(db.dialect === 'postgres' ? postgresUpsert(names, resource, lease) : mysqlUpsert(names, resource, lease));
    if (db.dialect === 'postgres' && outcome.rows.length > 0) return outcome;
    const fence = await read(db, names, resource);
    const accepted = fence?.token === lease.fencingToken && fence.holderTag === lease.holderTag;
    if (!accepted) throw refused(resource, lease, { current: fence?.token });
    return outcome;
  } catch (error) {
    throw explainSqlError(error, lease, 'fencing_token');
  }
}

type Names = Readonly<Record<'table' | 'resource' | 'token' | 'holder', SqlFragment>>;

function columnsOf(dialect: SqlDialect, table: TableName): Names {
  const name = (column: string): SqlFragment => raw(quoteName(dialect, column));
  return {
    table: raw(quoteTable(dialect, table)),
    resource: name('resource'),
    token: name('fencing_token'),
    holder: name('fencing_holder'),
  };
}

function postgresUpsert({ table, resource, token, holder }: Names, name: string, lease: FencedBy): SqlFragment {
  const newer = sql`f.${token} < EXCLUDED.${token} OR (f.${token} = EXCLUDED.${token} AND f.${holder} = EXCLUDED.${holder})`;
  return sql`INSERT INTO ${table} AS f (${resource}, ${token}, ${holder}) VALUES (${name}, ${lease.fencingToken}, ${lease.holderTag}) ON CONFLICT (${resource}) DO UPDATE SET ${token} = EXCLUDED.${token}, ${holder} = EXCLUDED.${holder} WHERE ${newer} RETURNING f.${token}::text AS fence_token`;
}

/** MySQL has no condition on an upsert: it raises the fence or leaves it, and the row, locked by then, tells which. The holder first: its condition reads the old token. */
function mysqlUpsert({ table, resource, token, holder }: Names, name: string, lease: FencedBy): SqlFragment {
  const { fencingToken, holderTag } = lease;
  const raise = sql`${holder} = IF(${token} < ${fencingToken}, ${holderTag}, ${holder}), ${token} = GREATEST(${token}, ${fencingToken})`;
  return sql`INSERT INTO ${table} (${resource}, ${token}, ${holder}) VALUES (${name}, ${fencingToken}, ${holderTag}) ON DUPLICATE KEY UPDATE ${raise}`;
}

async function read(db: SqlClient, { table, resource, token, holder }: Names, name: string): Promise<Fence | undefined> {
  const mysql = db.dialect === 'mysql';
  const text = raw(mysql ? 'CHAR' : 'TEXT');
  const { rows } = await db.run(
    sql`SELECT CAST(${token} AS ${text}) AS fence_token, ${holder} AS fence_holder FROM ${table} WHERE ${resource} = ${name}${raw(mysql ? ' FOR UPDATE' : '')}`,
  );
  const [row] = rows;
  return row && { token: Number(row.fence_token), holderTag: String(row.fence_holder) };
}

function notInTransaction(): LeaseOptionsError {
  return new LeaseOptionsError(
    'client',
    'acceptFence() was not given the client of an open transaction: a fence that commits before the write it belongs to protects nothing. Start the transaction, call it first, then write with the same client.',
  );
}
