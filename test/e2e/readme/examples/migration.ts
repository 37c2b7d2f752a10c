import { PGlite } from '@electric-sql/pglite';
import { checkFenceColumns } from 'nestjs-lease/fencing';

export async function check({ text }: Record<string, any>): Promise<void> {
  const db = new PGlite();
  await db.exec('CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT)');
  await db.exec(text);
  await checkFenceColumns(db, { table: 'orders' });
  await db.close();
}
