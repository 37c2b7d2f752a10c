import { afterAll, beforeAll } from '@jest/globals';
import { createConnection, type Connection } from 'mysql2/promise';
import { fenceColumnsSql, fenceTableSql } from 'nestjs-lease/fencing';
import { startMariadb, type MariadbServer } from '../../support/mariadb-server.js';
import { mysqlClients } from './sql-clients.js';
import { sqlStories } from './sql-story.js';

const SCHEMA = [
  'CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL, note TEXT)',
  'INSERT INTO accounts VALUES (7, 0, NULL)',
  fenceColumnsSql('mysql', 'accounts'),
  fenceTableSql('mysql'),
  "CREATE TABLE small (id INT PRIMARY KEY, balance INT NOT NULL, fencing_token INT NOT NULL DEFAULT 0, fencing_holder VARCHAR(64) NOT NULL DEFAULT '')",
  "INSERT INTO small VALUES (7, 0, 0, '')",
];

let mariadb: MariadbServer;
let admin: Connection;

beforeAll(async () => {
  mariadb = await startMariadb();
  admin = await createConnection(mariadb.config);
  for (const statement of SCHEMA) await admin.query(statement);
}, 300_000);

afterAll(async () => {
  await admin.end();
  await mariadb.stop();
});

for (const [name, open] of Object.entries(mysqlClients)) {
  sqlStories(
    `MariaDB with ${name}`,
    () => open(mariadb.config),
    () => ({ ask: async (text) => (await admin.query(text))[0] as Record<string, unknown>[] }),
  );
}
