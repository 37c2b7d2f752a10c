import type { SqlDialect } from './sql-dialect.js';
import type { SqlFragment } from './sql-fragment.js';

/** What a fence needs of a database client: one statement at a time. Write one for a client that is not known here. */
export interface SqlClient {
  readonly dialect: SqlDialect;
  /**
   * True inside a transaction, false where each statement commits by itself, `undefined` where the client cannot tell.
   * A check that commits before the write it belongs to protects nothing, so false is refused by `acceptFence`.
   */
  readonly inTransaction?: boolean | undefined;
  /** Runs one statement. */
  run(statement: SqlFragment): Promise<SqlOutcome>;
}

/** What a statement did. */
export interface SqlOutcome {
  /** Rows that a SELECT or RETURNING gave. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Rows that were written, where the statement gives no rows. */
  readonly affected: number;
  /** Whether the server says that the connection is inside a transaction now. */
  readonly inTransaction?: boolean | undefined;
}

type Row = Readonly<Record<string, unknown>>;

interface Head {
  readonly rows?: unknown;
  readonly rowCount?: unknown;
  readonly affectedRows?: unknown;
  readonly serverStatus?: unknown;
}

/** Bit of MySQL's server status: a transaction is open. */
const IN_TRANSACTION = 1;

/**
 * Reads the result of any known client: `pg` and PGlite `{ rows }`, mysql2 `[header | rows, fields]`, TypeORM
 * `[rows, count]`, `rows` or the header alone; Knex and Drizzle hand on what their driver gave.
 */
export function readOutcome(result: unknown): SqlOutcome {
  if (!Array.isArray(result)) return ofHead(result as Head);
  const [first] = result as unknown[];
  if (Array.isArray(first)) return { rows: first as Row[], affected: first.length };
  if (isHeader(first)) return ofHead(first);
  return { rows: result as Row[], affected: result.length };
}

function ofHead(head: Head | undefined): SqlOutcome {
  const rows = Array.isArray(head?.rows) ? (head.rows as Row[]) : [];
  const affected = Number(head?.affectedRows ?? head?.rowCount ?? rows.length);
  const status = head?.serverStatus;
  return { rows, affected, inTransaction: typeof status === 'number' ? (status & IN_TRANSACTION) !== 0 : undefined };
}

/** MySQL's answer to a statement that gives no rows; a row of the user has no `serverStatus`. */
function isHeader(value: unknown): value is Head {
  return typeof value === 'object' && value !== null && 'affectedRows' in value && 'serverStatus' in value;
}
