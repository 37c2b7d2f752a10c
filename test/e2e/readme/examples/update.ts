import { PGlite } from '@electric-sql/pglite';
import assert from 'node:assert/strict';

export async function check({ text }: Record<string, any>, sql: Readonly<Record<string, string>>): Promise<void> {
  const db = new PGlite();
  await db.exec(`CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT); INSERT INTO orders VALUES ('7', 'new'); ${sql.migration}`);
  const changed = async (token: number, holder: string): Promise<number | undefined> =>
    (await db.query(text, ['shipped', token, holder, '7'])).affectedRows;
  assert.equal(await changed(1796183651337406, 'aaaa'), 1);
  assert.equal(await changed(1796183651337406, 'aaaa'), 1, 'the same holder may write again');
  assert.equal(await changed(1796183651337406, 'bbbb'), 0, 'another holder with the same token may not');
  assert.equal(await changed(1796183651337405, 'bbbb'), 0, 'a lower token may not');
  assert.equal(await changed(1796183651337407, 'bbbb'), 1, 'a higher one may');
  await db.close();
}
