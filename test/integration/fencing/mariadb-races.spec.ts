import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool as createCallbackPool } from 'mysql2';
import { createConnection, createPool, type Pool, type PoolConnection } from 'mysql2/promise';
import { acceptFence, checkFenceColumns, fencedUpdate, fenceColumnsSql, fenceTableSql, SqlFencingGuard } from 'nestjs-lease/fencing';
import { startMariadb, type MariadbServer } from '../../support/mariadb-server.js';
import { ruleCases } from './rule-cases.js';
import { sqlRaces, type Transact } from './races.js';
import { holder } from './stories.js';

let mariadb: MariadbServer;
let pool: Pool;

const transact: Transact = async (isolation, work) => {
  const connection = await pool.getConnection();
  try {
    await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`);
    await connection.beginTransaction();
    await work(connection);
    await connection.commit();
  } catch (error) {
    await connection.rollback();
    throw error;
  } finally {
    connection.release();
  }
};

beforeAll(async () => {
  mariadb = await startMariadb();
  pool = createPool({ ...mariadb.config, connectionLimit: 60 });
  await pool.query('CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL DEFAULT 0)');
  await pool.query('INSERT INTO accounts VALUES (7, 0)');
  await pool.query(fenceColumnsSql('mysql', 'accounts'));
  await pool.query(fenceTableSql('mysql'));
  await pool.query('CREATE TABLE journal (seq BIGINT AUTO_INCREMENT PRIMARY KEY, token BIGINT NOT NULL)');
}, 300_000);

afterAll(async () => {
  await pool.end();
  await mariadb.stop();
});

describe('MariaDB', () => {
  const ask = async (text: string): Promise<Record<string, unknown>[]> => (await pool.query(text))[0] as never;
  sqlRaces(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'], { transact: () => transact, ask });
});

describe('fences in MariaDB', () => {
  const row = { table: 'accounts', where: { id: 7 } };
  const reset = async (): Promise<void> => {
    await pool.query("UPDATE accounts SET balance = 0, fencing_token = 0, fencing_holder = ''");
    await pool.query('DELETE FROM lease_fence');
  };
  ruleCases(() => new SqlFencingGuard(pool));

  it('a transaction with an old snapshot is told that it is stale, with the token that is current', async () => {
    await reset();
    const [a, b] = [holder(33), holder(34)];
    const paused = transact('REPEATABLE READ', async (tx) => {
      await (tx as PoolConnection).query('SELECT balance FROM accounts');
      await fencedUpdate(pool, { ...row, set: { balance: 2 }, lease: b });
      await fencedUpdate(tx, { ...row, set: { balance: 1 }, lease: a });
    });
    await expect(paused).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE', current: b.fencingToken });
  });

  it('a connection that counts only changed rows does not make a repeated write a missing row', async () => {
    await reset();
    const connection = await createConnection({ ...mariadb.config, flags: ['-FOUND_ROWS'] });
    const write = (n: number) => fencedUpdate(connection, { ...row, set: { balance: 5 }, lease: holder(n) });
    expect([await write(34), await write(34)]).toEqual([1, 1]);
    await expect(write(33)).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE' });
    await connection.beginTransaction();
    await acceptFence(connection, { lease: holder(34) });
    await acceptFence(connection, { lease: holder(34) });
    await connection.rollback();
    await connection.end();
  });

  it('a client outside of a transaction is refused by acceptFence', async () => {
    const connection = await pool.getConnection();
    await expect(acceptFence(connection, { resource: 'loose', lease: holder(1) })).rejects.toMatchObject({ option: 'client' });
    connection.release();
  });

  it('the callback form of mysql2 is refused with what to give instead', async () => {
    const callbacks = createCallbackPool(mariadb.config);
    await expect(fencedUpdate(callbacks, { ...row, set: {}, lease: holder(1) })).rejects.toMatchObject({
      option: 'client',
      message: expect.stringContaining('promise'),
    });
    callbacks.end();
  });

  it('resources and holders that differ only in case or accents are different', async () => {
    const guard = new SqlFencingGuard(pool);
    await guard.accept('Order', 34, 'b');
    await guard.accept('order', 33, 'a');
    await guard.accept('ordér', 32, 'a');
    await expect(guard.accept('Order', 34, 'B')).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE', current: 34 });
  });

  it.each(['INT', 'INT UNSIGNED', 'FLOAT', 'DOUBLE', 'DECIMAL(10,0)'])('finds a token column of type %s at start-up', async (type) => {
    await pool.query('DROP TABLE IF EXISTS typed');
    await pool.query(`CREATE TABLE typed (fencing_token ${type}, fencing_holder VARCHAR(64))`);
    await expect(checkFenceColumns(pool, { table: 'typed' })).rejects.toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      message: expect.stringContaining('BIGINT'),
    });
    await checkFenceColumns(pool, { table: 'accounts' });
    await checkFenceColumns(pool, { table: 'test.lease_fence' });
  });

  it('an object is never spelled out as SQL', async () => {
    await expect(fencedUpdate(pool, { ...row, where: { id: { id: 7 } }, set: {}, lease: holder(99) })).rejects.toMatchObject({
      option: 'where',
    });
    await expect(fencedUpdate(pool, { ...row, set: { balance: { balance: 1 } }, lease: holder(99) })).rejects.toMatchObject({
      option: 'set',
    });
    await expect(fencedUpdate(pool, { ...row, set: { balance: [1] }, lease: holder(99) })).rejects.toMatchObject({ option: 'set' });
  });
});
