import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { fenceColumnsSql, fenceTableSql } from 'nestjs-lease/fencing';
import { startPostgres, type PostgresServer } from '../../support/postgres-server.js';
import { openPglite, postgresClients } from './sql-clients.js';
import { sqlStories, type Server } from './sql-story.js';

const SCHEMA = [
  'CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL, note TEXT)',
  'INSERT INTO accounts VALUES (7, 0)',
  fenceColumnsSql('postgres', 'accounts'),
  fenceTableSql('postgres'),
  "CREATE TABLE small (id INT PRIMARY KEY, balance INT NOT NULL, fencing_token INT NOT NULL DEFAULT 0, fencing_holder TEXT NOT NULL DEFAULT '')",
  'INSERT INTO small VALUES (7, 0)',
];

let postgres: PostgresServer;
let admin: pg.Client;

beforeAll(async () => {
  postgres = await startPostgres();
  admin = new pg.Client(postgres.config);
  await admin.connect();
  for (const statement of SCHEMA) await admin.query(statement);
}, 300_000);

afterAll(async () => {
  await admin.end();
  await postgres.stop();
});

for (const [name, open] of Object.entries(postgresClients)) {
  sqlStories(
    `PostgreSQL with ${name}`,
    () => open(postgres.config),
    () => ({ ask: async (text) => (await admin.query<Record<string, unknown>>(text)).rows }),
  );
}

let pglite: Server;
sqlStories(
  'PGlite',
  async () => {
    const client = await openPglite();
    for (const statement of SCHEMA) await client.db.query(statement);
    pglite = { ask: async (text) => (await client.db.query<Record<string, unknown>>(text)).rows };
    return client;
  },
  () => pglite,
);
