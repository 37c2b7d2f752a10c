import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import type { SqlDialect } from './sql-dialect.js';
import { readOutcome, type SqlClient } from './sql-client.js';
import type { SqlTag } from './sql-fragment.js';

/** What is used of a Drizzle database or transaction. */
export interface DrizzleLike {
  execute(query: never): unknown;
}

const ENTITY_KIND = Symbol.for('drizzle:entityKind');

/** Which SQL a Drizzle database speaks; `undefined` for anything else. */
export function drizzleDialect(db: object): SqlDialect | undefined {
  const dialect = (db as { readonly dialect?: object }).dialect;
  const kind = (dialect?.constructor as { readonly [ENTITY_KIND]?: unknown } | undefined)?.[ENTITY_KIND];
  return kind === 'PgDialect' ? 'postgres' : kind === 'MySqlDialect' ? 'mysql' : undefined;
}

/**
 * A Drizzle database or transaction (PostgreSQL or MySQL) for `fencedUpdate` and `acceptFence`.
 * @param tag the `sql` of `drizzle-orm`, since this package does not import it
 */
export function drizzleClient<T>(db: DrizzleLike, tag: SqlTag<T>): SqlClient {
  const dialect = drizzleDialect(db);
  if (dialect === undefined)
    throw new LeaseOptionsError('client', 'drizzleClient() takes a Drizzle database or transaction of PostgreSQL or MySQL.');
  return {
    dialect,
    inTransaction: 'rollback' in db,
    run: async (statement) => readOutcome(await db.execute(statement.tag(tag) as never)),
  };
}
