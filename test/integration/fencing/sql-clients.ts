import { PGlite } from '@electric-sql/pglite';
import { and, eq, sql } from 'drizzle-orm';
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2';
import { bigint as mysqlBigint, int as mysqlInt, mysqlTable, varchar as mysqlVarchar } from 'drizzle-orm/mysql-core';
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { bigint, integer, pgTable, varchar } from 'drizzle-orm/pg-core';
import knex from 'knex';
import mysql, { type ResultSetHeader } from 'mysql2/promise';
import pg from 'pg';
import { DataSource, EntitySchema } from 'typeorm';
import { drizzleClient, fenceColumns, type FencedBy, type SqlDialect } from 'nestjs-lease/fencing';

export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** A client library, as the tests use every one. */
export interface ClientUnderTest {
  readonly name: string;
  /** What is given to `fencedUpdate` outside of a transaction. */
  readonly direct: object;
  /** Runs `work` in a transaction of this library; rolled back when it throws. */
  transaction(work: (tx: object) => Promise<unknown>): Promise<unknown>;
  /** A statement in the library's own words, with the condition and the columns from `fenceColumns`; gives the rows updated. */
  own(lease: FencedBy, id: number, balance: number): Promise<number>;
  close(): Promise<unknown>;
}

export type OpenClient = (config: ServerConfig) => Promise<ClientUnderTest>;

interface Account {
  id: number;
  balance: number;
  fencing_token: number;
  fencing_holder: string;
}

const Accounts = new EntitySchema<Account>({
  name: 'accounts',
  columns: {
    id: { type: Number, primary: true },
    balance: { type: Number },
    fencing_token: { type: 'bigint' },
    fencing_holder: { type: 'varchar' },
  },
});

function openTypeOrm(dialect: SqlDialect, manager: 'EntityManager' | 'QueryRunner'): OpenClient {
  return async ({ host, port, user, database }) => {
    const type = dialect === 'postgres' ? 'postgres' : 'mariadb';
    const source = await new DataSource({ type, host, port, username: user, database, entities: [Accounts] }).initialize();
    return {
      name: `TypeORM (${manager})`,
      direct: manager === 'QueryRunner' ? source : source.manager,
      transaction: (work) => source.transaction((tx) => work(manager === 'QueryRunner' ? tx.queryRunner! : tx)),
      own: async (lease, id, balance) => {
        const fence = fenceColumns(lease, { dialect });
        const update = source
          .createQueryBuilder()
          .update(Accounts)
          .set({ balance, ...fence.set });
        const result = await update
          .where('id = :id', { id })
          .andWhere(...fence.where.named())
          .execute();
        return result.affected ?? 0;
      },
      close: () => source.destroy(),
    };
  };
}

function openKnex(dialect: SqlDialect): OpenClient {
  return async (connection) => {
    const db = knex({ client: dialect === 'postgres' ? 'pg' : 'mysql2', connection });
    return {
      name: 'Knex',
      direct: db,
      transaction: (work) => db.transaction((tx) => work(tx)),
      own: async (lease, id, balance) => {
        const fence = fenceColumns(lease, { dialect });
        return db('accounts')
          .update({ balance, ...fence.set })
          .where({ id })
          .whereRaw(...(fence.where.positional() as [string, never[]]));
      },
      close: () => db.destroy(),
    };
  };
}

const openPg: OpenClient = async (config) => {
  const pool = new pg.Pool({ ...config, max: 60 });
  return {
    name: 'pg',
    direct: pool,
    transaction: async (work) => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await work(client);
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
    own: async (lease, id, balance) => {
      const fence = fenceColumns(lease, { dialect: 'postgres' });
      const [condition, values] = fence.where.numbered(5);
      const text = `UPDATE accounts SET balance = $2, fencing_token = $3, fencing_holder = $4 WHERE id = $1 AND ${condition}`;
      return (await pool.query(text, [id, balance, lease.fencingToken, lease.holderTag, ...values])).rowCount ?? 0;
    },
    close: () => pool.end(),
  };
};

const openMysql2: OpenClient = async (config) => {
  const pool = mysql.createPool({ ...config, connectionLimit: 60 });
  return {
    name: 'mysql2',
    direct: pool,
    transaction: async (work) => {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        await work(connection);
        await connection.commit();
      } catch (error) {
        await connection.rollback();
        throw error;
      } finally {
        connection.release();
      }
    },
    own: async (lease, id, balance) => {
      const fence = fenceColumns(lease, { dialect: 'mysql', table: 'accounts' });
      const [condition, values] = fence.where.positional();
      const text = `UPDATE accounts SET balance = ?, fencing_token = ?, fencing_holder = ? WHERE id = ? AND ${condition}`;
      const [header] = await pool.execute<ResultSetHeader>(text, [
        balance,
        lease.fencingToken,
        lease.holderTag,
        id,
        ...(values as string[]),
      ]);
      return header.affectedRows;
    },
    close: () => pool.end(),
  };
};

const openDrizzlePg: OpenClient = async (config) => {
  const pool = new pg.Pool(config);
  const db = drizzlePg({ client: pool });
  const token = bigint('fencing_token', { mode: 'number' });
  const accounts = pgTable('accounts', {
    id: integer(),
    balance: integer(),
    fencingToken: token,
    fencingHolder: varchar('fencing_holder'),
  });
  return {
    name: 'Drizzle',
    direct: drizzleClient(db, sql),
    transaction: (work) => db.transaction((tx) => work(drizzleClient(tx, sql))),
    own: async (lease, id, balance) => {
      const fence = fenceColumns(lease, { dialect: 'postgres' });
      const set = { balance, fencingToken: lease.fencingToken, fencingHolder: lease.holderTag };
      const result = await db
        .update(accounts)
        .set(set)
        .where(and(eq(accounts.id, id), fence.where.tag(sql)));
      return result.rowCount ?? 0;
    },
    close: () => pool.end(),
  };
};

const openDrizzleMysql: OpenClient = async (config) => {
  const pool = mysql.createPool(config);
  const db = drizzleMysql({ client: pool });
  const token = mysqlBigint('fencing_token', { mode: 'number' });
  const holder = mysqlVarchar('fencing_holder', { length: 64 });
  const accounts = mysqlTable('accounts', { id: mysqlInt(), balance: mysqlInt(), fencingToken: token, fencingHolder: holder });
  return {
    name: 'Drizzle',
    direct: drizzleClient(db, sql),
    transaction: (work) => db.transaction((tx) => work(drizzleClient(tx, sql))),
    own: async (lease, id, balance) => {
      const fence = fenceColumns(lease, { dialect: 'mysql' });
      const set = { balance, fencingToken: lease.fencingToken, fencingHolder: lease.holderTag };
      const [header] = await db
        .update(accounts)
        .set(set)
        .where(and(eq(accounts.id, id), fence.where.tag(sql)));
      return header.affectedRows;
    },
    close: () => pool.end(),
  };
};

/** PGlite is PostgreSQL in this process, with one session: for samples, not for contention. */
export async function openPglite(): Promise<ClientUnderTest & { readonly db: PGlite }> {
  const db = await PGlite.create();
  return {
    name: 'PGlite',
    db,
    direct: db,
    transaction: (work) => db.transaction((tx) => work(tx)),
    own: async (lease, id, balance) => {
      const [condition, values] = fenceColumns(lease, { dialect: 'postgres' }).where.numbered(5);
      const text = `UPDATE accounts SET balance = $2, fencing_token = $3, fencing_holder = $4 WHERE id = $1 AND ${condition}`;
      return (await db.query(text, [id, balance, lease.fencingToken, lease.holderTag, ...values])).affectedRows ?? 0;
    },
    close: () => db.close(),
  };
}

export const postgresClients: Readonly<Record<string, OpenClient>> = {
  pg: openPg,
  'TypeORM EntityManager': openTypeOrm('postgres', 'EntityManager'),
  'TypeORM DataSource and QueryRunner': openTypeOrm('postgres', 'QueryRunner'),
  Knex: openKnex('postgres'),
  Drizzle: openDrizzlePg,
};

export const mysqlClients: Readonly<Record<string, OpenClient>> = {
  mysql2: openMysql2,
  'TypeORM EntityManager': openTypeOrm('mysql', 'EntityManager'),
  'TypeORM DataSource and QueryRunner': openTypeOrm('mysql', 'QueryRunner'),
  Knex: openKnex('mysql'),
  Drizzle: openDrizzleMysql,
};
