import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  acceptFence,
  checkFenceColumns,
  explainNoRows,
  fencedUpdate,
  fenceColumnsSql,
  fenceTableSql,
  isSerializationFailure,
  SqlFencingGuard,
} from 'nestjs-lease/fencing';
import { startPostgres, type PostgresServer } from '../../support/postgres-server.js';
import { ruleCases } from './rule-cases.js';
import { sqlRaces, type Transact } from './races.js';
import { holder } from './stories.js';

let postgres: PostgresServer;
let pool: pg.Pool;

const transact: Transact = async (isolation, work) => {
  const client = await pool.connect();
  try {
    await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
};

beforeAll(async () => {
  postgres = await startPostgres();
  pool = new pg.Pool({ ...postgres.config, max: 60 });
  await pool.query('CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL DEFAULT 0)');
  await pool.query('INSERT INTO accounts VALUES (7)');
  await pool.query(fenceColumnsSql('postgres', 'accounts'));
  await pool.query(fenceTableSql('postgres'));
  await pool.query('CREATE TABLE journal (seq BIGSERIAL, token BIGINT NOT NULL)');
}, 300_000);

afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

describe('PostgreSQL', () => {
  sqlRaces(['READ COMMITTED', 'SERIALIZABLE'], { transact: () => transact, ask: async (text) => (await pool.query(text)).rows });
});

describe('SqlFencingGuard on PostgreSQL', () => {
  ruleCases(() => new SqlFencingGuard(pool));
});

describe('fences in PostgreSQL', () => {
  beforeEach(async () => {
    await pool.query("UPDATE accounts SET fencing_token = 0, fencing_holder = ''");
    await pool.query('DELETE FROM lease_fence');
  });
  const row = { table: 'accounts', where: { id: 7 } };

  it('a writer whose snapshot is too old is told to retry the transaction, and is stale then', async () => {
    const [a, b] = [holder(33), holder(34)];
    const write = (lease: typeof a) => (tx: object) => fencedUpdate(tx, { ...row, set: { balance: 1 }, lease });
    const paused = transact('SERIALIZABLE', async (tx) => {
      await (tx as pg.PoolClient).query('SELECT balance FROM accounts');
      await transact('SERIALIZABLE', write(b));
      await write(a)(tx);
    });
    expect(isSerializationFailure(await paused.catch((error: unknown) => error))).toBe(true);
    await expect(transact('SERIALIZABLE', write(a))).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE', current: b.fencingToken });
  });

  it('a fence that was never written (NULL) accepts the first holder', async () => {
    await pool.query('CREATE TABLE lazily (id INT, fencing_token BIGINT, fencing_holder TEXT)');
    await pool.query('INSERT INTO lazily (id) VALUES (7)');
    expect(await fencedUpdate(pool, { table: 'lazily', where: { id: 7 }, set: {}, lease: holder(1) })).toBe(1);
    await expect(fencedUpdate(pool, { table: 'lazily', where: { id: 7 }, set: {}, lease: holder(0) })).rejects.toMatchObject({
      code: 'FENCING_TOKEN_STALE',
    });
  });

  it('names of its own, with a schema and awkward characters', async () => {
    await pool.query('CREATE SCHEMA "my app"');
    await pool.query('CREATE TABLE "my app"."a.b ""c" (id INT)');
    await pool.query('INSERT INTO "my app"."a.b ""c" VALUES (7)');
    const table = ['my app', 'a.b "c'];
    const columns = { token: 'Tok"en', holder: 'Holder' };
    await pool.query(fenceColumnsSql('postgres', table, columns));
    await checkFenceColumns(pool, { table, columns });
    const write = (n: number) => fencedUpdate(pool, { table, columns, where: { id: 7 }, set: {}, lease: holder(n) });
    expect(await write(34)).toBe(1);
    await expect(write(33)).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE', resource: 'my app.a.b "c' });
  });

  it.each(['INT', 'REAL', 'DOUBLE PRECISION', 'NUMERIC(20,2)', 'TEXT'])('finds a token column of type %s at start-up', async (type) => {
    await pool.query(`CREATE TABLE IF NOT EXISTS typed (id INT, fencing_holder TEXT)`);
    await pool.query(`ALTER TABLE typed DROP COLUMN IF EXISTS fencing_token, ADD COLUMN fencing_token ${type}`);
    await expect(checkFenceColumns(pool, { table: 'typed' })).rejects.toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      message: expect.stringContaining('BIGINT'),
    });
  });

  it('finds missing fence columns at start-up, and passes good ones', async () => {
    await expect(checkFenceColumns(pool, { table: 'journal' })).rejects.toMatchObject({
      message: expect.stringContaining('fenceColumnsSql'),
    });
    await expect(checkFenceColumns(pool, { table: 'nowhere' })).rejects.toMatchObject({ option: 'table' });
    await checkFenceColumns(pool, { table: 'accounts' });
    await checkFenceColumns(pool, { table: 'public.lease_fence' });
  });

  it('a float column that rounds a token is noticed at the write', async () => {
    await pool.query("CREATE TABLE floats (id INT, fencing_token REAL NOT NULL DEFAULT 0, fencing_holder TEXT NOT NULL DEFAULT '')");
    await pool.query('INSERT INTO floats VALUES (7)');
    await expect(fencedUpdate(pool, { table: 'floats', where: { id: 7 }, set: {}, lease: holder(1) })).rejects.toMatchObject({
      option: 'fencingToken',
    });
  });

  it('a guard at the door remembers each resource by itself', async () => {
    const guard = new SqlFencingGuard(pool);
    await guard.accept('a', 34, 'b');
    await guard.accept('a', 34, 'b');
    await expect(guard.accept('a', 34, 'c')).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE', current: 34, resource: 'a' });
    await guard.accept('A', 33, 'a');
    await expect(guard.accept('', 1, 'a')).rejects.toMatchObject({ option: 'resource' });
    await expect(guard.accept('x'.repeat(256), 1, 'a')).rejects.toMatchObject({ option: 'resource' });
  });

  it('a token or value that cannot be compared never reaches the database', async () => {
    const dead = new pg.Pool({ host: '127.0.0.1', port: 1 });
    const lease = { key: 'k', fencingToken: 1.5, holderTag: 't' };
    await expect(fencedUpdate(dead, { ...row, set: {}, lease })).rejects.toMatchObject({ option: 'fencingToken' });
    await expect(new SqlFencingGuard(dead).accept('r', Number.MAX_SAFE_INTEGER + 1, 't')).rejects.toMatchObject({ option: 'fencingToken' });
    await expect(fencedUpdate(dead, { ...row, where: {}, set: {}, lease: holder(1) })).rejects.toMatchObject({ option: 'where' });
    await expect(fencedUpdate(dead, { ...row, where: { id: undefined }, set: {}, lease: holder(1) })).rejects.toMatchObject({
      option: 'where',
    });
    await expect(fencedUpdate(dead, { ...row, where: { id: { id: 1 } }, set: {}, lease: holder(1) })).rejects.toMatchObject({
      option: 'where',
    });
    await expect(fencedUpdate(dead, { ...row, set: { fencing_token: 1 }, lease: holder(1) })).rejects.toMatchObject({ option: 'set' });
    await expect(fencedUpdate({}, { ...row, set: {}, lease: holder(1) })).rejects.toMatchObject({ option: 'client' });
    await expect(acceptFence(dead, { lease: holder(1) })).rejects.toMatchObject({ option: 'client' });
    await dead.end();
  });

  it('a client outside of a transaction is refused by acceptFence', async () => {
    const client = await pool.connect();
    await expect(acceptFence(client, { lease: holder(1) })).rejects.toMatchObject({ option: 'client' });
    client.release();
  });

  it('a row that may be seen and not updated counts as no row', async () => {
    await pool.query('CREATE TABLE walled AS SELECT * FROM accounts');
    await pool.query('ALTER TABLE walled ENABLE ROW LEVEL SECURITY');
    await pool.query('CREATE POLICY seen ON walled FOR SELECT USING (true)');
    await pool.query('CREATE ROLE reader');
    await pool.query('GRANT ALL ON walled TO reader');
    await transact('READ COMMITTED', async (tx) => {
      await (tx as pg.PoolClient).query('SET LOCAL ROLE reader');
      const write = { table: 'walled', where: { id: 7 }, lease: holder(1) };
      expect(await fencedUpdate(tx, { ...write, set: { balance: 1 } })).toBe(0);
      expect(await explainNoRows(tx, write)).toBe('not-stale');
    });
  });
});
