import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import type { SqlDialect } from './sql-dialect.js';
import { readOutcome, type SqlClient } from './sql-client.js';
import { drizzleDialect } from './drizzle-client.js';

type Run = (text: string, values: never[]) => unknown;

/** Parts of the clients that tell them apart; none of their packages is imported. */
interface Parts {
  readonly run?: unknown;
  readonly dialect?: unknown;
  readonly query?: Run;
  readonly execute?: Run;
  readonly raw?: Run;
  readonly promise?: unknown;
  readonly client?: { readonly dialect?: unknown; readonly config?: { readonly client?: unknown } };
  readonly isTransaction?: unknown;
  readonly dataSource?: Parts;
  readonly connection?: Parts;
  readonly options?: { readonly type?: unknown };
  readonly queryRunner?: Parts;
  readonly isTransactionActive?: unknown;
  readonly totalCount?: unknown;
  readonly waitReady?: unknown;
  readonly getConnection?: unknown;
  getTransactionStatus?(): unknown;
}

const POSTGRES = new Set(['postgres', 'postgresql', 'pg', 'cockroachdb', 'aurora-postgres', 'pgnative']);
const MYSQL = new Set(['mysql', 'mysql2', 'mariadb', 'aurora-mysql']);

/**
 * The client at hand as a `SqlClient`: `pg` (Pool, PoolClient, Client), PGlite and its transactions, `mysql2/promise`,
 * TypeORM (DataSource, EntityManager, QueryRunner), Knex and its transactions, or a `SqlClient` itself.
 * @throws LeaseOptionsError for anything else, saying what to give
 */
export function sqlClientOf(client: object): SqlClient {
  const parts = client as Parts;
  const found = given(parts) ?? typeOrm(parts) ?? knex(parts) ?? mysql2(parts) ?? postgres(parts);
  if (found !== undefined) return found;
  const hint = drizzleDialect(client) === undefined ? '' : ' For Drizzle write drizzleClient(db, sql), with the sql of drizzle-orm.';
  throw new LeaseOptionsError(
    'client',
    `This database client is not known: give a client of pg, PGlite, mysql2/promise, TypeORM or Knex, or a SqlClient of your own.${hint}`,
  );
}

function given(client: Parts): SqlClient | undefined {
  const ours = typeof client.run === 'function' && (client.dialect === 'postgres' || client.dialect === 'mysql');
  return ours ? (client as unknown as SqlClient) : undefined;
}

function typeOrm(client: Parts): SqlClient | undefined {
  const source = [client.dataSource, client.connection, client].find((one) => typeof one?.options?.type === 'string');
  const { query } = client;
  if (source === undefined || query === undefined) return undefined;
  const dialect = dialectOf(source.options?.type);
  const runner = source === client ? undefined : (client.queryRunner ?? client);
  return {
    dialect,
    inTransaction: runner?.isTransactionActive === true,
    run: async (statement) => {
      const [text, values] = dialect === 'postgres' ? statement.numbered() : statement.positional();
      return readOutcome(await query.call(client, text, values as never[]));
    },
  };
}

function knex(client: Parts): SqlClient | undefined {
  const { raw } = client;
  if (raw === undefined || client.client === undefined) return undefined;
  return {
    dialect: dialectOf(client.client.dialect ?? client.client.config?.client),
    inTransaction: client.isTransaction === true,
    run: async (statement) => {
      const [text, values] = statement.positional();
      return readOutcome(await raw.call(client, text, values as never[]));
    },
  };
}

function mysql2(client: Parts): SqlClient | undefined {
  const { execute } = client;
  if (execute === undefined || client.query === undefined) return undefined;
  if (typeof client.promise === 'function')
    throw new LeaseOptionsError('client', 'Give the promise form of mysql2: client.promise(), or import mysql2/promise.');
  return {
    dialect: 'mysql',
    inTransaction: typeof client.getConnection === 'function' ? false : undefined,
    run: async (statement) => {
      // A prepared statement: its values never become part of the text, whatever the sql_mode says of escapes.
      const [text, values] = statement.positional();
      return readOutcome(await execute.call(client, text, values as never[]));
    },
  };
}

function postgres(client: Parts): SqlClient | undefined {
  const { query } = client;
  if (query === undefined) return undefined;
  return {
    dialect: 'postgres',
    inTransaction: postgresTransaction(client),
    run: async (statement) => {
      const [text, values] = statement.numbered();
      return readOutcome(await query.call(client, text, values as never[]));
    },
  };
}

/** A pool of pg, and PGlite outside of its `transaction()`, commit each statement; a client of pg says how it stands since 8.18 or so. */
function postgresTransaction(client: Parts): boolean | undefined {
  if (typeof client.totalCount === 'number' || client.waitReady !== undefined) return false;
  const status = client.getTransactionStatus?.();
  return typeof status === 'string' ? status !== 'I' : undefined;
}

function dialectOf(type: unknown): SqlDialect {
  if (POSTGRES.has(String(type))) return 'postgres';
  if (MYSQL.has(String(type))) return 'mysql';
  throw new LeaseOptionsError('client', `A fence is written for PostgreSQL, MySQL and MariaDB; this client speaks to ${String(type)}.`);
}
