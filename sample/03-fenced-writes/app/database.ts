import { PGlite } from '@electric-sql/pglite';
import { fenceColumnsSql } from 'nestjs-lease/fencing';
import { Pool } from 'pg';

/** What the orders need of a database: a pool of `pg`, PGlite, or anything else with PostgreSQL's `query`. */
export interface Database {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** Injection token of the database. */
export const DATABASE = 'database';

/** Its table of orders. */
export const ORDERS = 'lease_sample_orders';

/** The server at `url`, or without one a PostgreSQL inside this process. */
export function openDatabase(url: string | undefined): Database & { end(): Promise<void> } {
  if (url !== undefined) return new Pool({ connectionString: url });
  const lite = new PGlite();
  return { query: (text, values) => lite.query(text, values), end: () => lite.close() };
}

/** The migrations: the table, and the fence columns on it. */
export async function migrate(database: Database): Promise<void> {
  await database.query(`DROP TABLE IF EXISTS ${ORDERS}`);
  await database.query(`CREATE TABLE ${ORDERS} (id TEXT PRIMARY KEY, shipped_by TEXT)`);
  await database.query(fenceColumnsSql('postgres', ORDERS));
  await database.query(`INSERT INTO ${ORDERS} (id) VALUES ('33'), ('34')`);
}
