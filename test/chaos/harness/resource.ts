import { PGlite } from '@electric-sql/pglite';
import { acceptFence } from '../../../lib/fencing/sql/fence-table.js';
import { fenceColumnsSql, fenceTableSql } from '../../../lib/fencing/sql/fence-schema.js';
import { fencedUpdate } from '../../../lib/fencing/sql/fenced-update.js';
import { LineServer } from '../../support/line-server.js';
import { now } from './history.js';

/** What a client asks: to read a row, or to write what it made of that. */
export interface ResourceRequest {
  readonly op: 'read' | 'write';
  readonly key: string;
  readonly token: number;
  readonly tag: string;
  /** Unique in the run; what is added. */
  readonly element?: number;
  /** The rows as they should be now: what was read, and one more. */
  readonly fenced?: Row;
  readonly plain?: Row;
}

/** A register that counts, and the list of what was added. */
export interface Row {
  readonly counter: number;
  readonly elements: readonly number[];
}

/** What it is told: the rows as they are, and whether the fences let it pass. */
export interface ResourceReply {
  readonly fenced: Row;
  readonly plain: Row;
  readonly register: boolean;
  readonly set: boolean;
}

/** One request in the order in which they were carried out. */
export interface Audited {
  readonly op: 'read' | 'write';
  readonly key: string;
  readonly token: number;
  readonly tag: string;
  readonly element: number;
  /** Whether the fence of the row, and that of the set, accepted it. */
  readonly register: boolean;
  readonly set: boolean;
  readonly at: number;
}

/** What is in the resource: the fenced register, the fenced set with the token of each element, and the register without a fence. */
export interface Rows {
  readonly fenced: Readonly<Record<string, Row>>;
  readonly plain: Readonly<Record<string, Row>>;
  readonly set: readonly { readonly key: string; readonly element: number; readonly token: number }[];
}

/**
 * The resource that the leases protect: a PostgreSQL (PGlite) with a fenced row and an unfenced one for each key, and a set with a
 * fence beside it. Clients reach it over TCP, one line of JSON for each request; it does one thing after the other.
 */
export class Resource {
  readonly audited: Audited[] = [];
  private last: Promise<unknown> = Promise.resolve();

  private server!: LineServer;

  private constructor(private readonly db: PGlite) {}

  static async start(keys: readonly string[]): Promise<Resource> {
    const db = new PGlite();
    for (const table of ['fenced', 'plain'])
      await db.exec(`CREATE TABLE ${table} (key TEXT PRIMARY KEY, counter INT NOT NULL DEFAULT 0, elements TEXT NOT NULL DEFAULT '[]')`);
    await db.exec(`${fenceColumnsSql('postgres', 'fenced')}; ${fenceTableSql('postgres')};
      CREATE TABLE items (key TEXT NOT NULL, element INT NOT NULL, token BIGINT NOT NULL, place SERIAL)`);
    for (const key of keys) await db.query('INSERT INTO fenced (key) VALUES ($1)', [key]);
    for (const key of keys) await db.query('INSERT INTO plain (key) VALUES ($1)', [key]);
    const resource = new Resource(db);
    resource.server = await LineServer.start((request: ResourceRequest) => resource.ask(request));
    return resource;
  }

  get port(): number {
    return this.server.port;
  }

  /** Carries out a request, after all that came before it. */
  ask(request: ResourceRequest): Promise<ResourceReply> {
    const done = this.last.then(() => this.carryOut(request));
    this.last = done.catch(() => undefined);
    return done;
  }

  /** What is in it, after all that was asked. */
  async rows(): Promise<Rows> {
    await this.last;
    const read = async (table: string): Promise<Record<string, Row>> => {
      const { rows } = await this.db.query<{ key: string; counter: number; elements: string }>(
        `SELECT key, counter, elements FROM ${table}`,
      );
      return Object.fromEntries(rows.map(({ key, counter, elements }) => [key, { counter, elements: JSON.parse(elements) as number[] }]));
    };
    const { rows: set } = await this.db.query<{ key: string; element: number; token: number }>(
      'SELECT key, element, token FROM items ORDER BY place',
    );
    return { fenced: await read('fenced'), plain: await read('plain'), set };
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.last;
    await this.db.close();
  }

  private async carryOut({ op, key, token, tag, element = 0, ...rows }: ResourceRequest): Promise<ResourceReply> {
    const lease = { key, fencingToken: token, holderTag: tag };
    const put = ({ counter, elements }: Row): { counter: number; elements: string } => ({ counter, elements: JSON.stringify(elements) });
    // A read claims the row too, so that nothing older changes it behind the reader's back.
    const set = op === 'read' || rows.fenced === undefined ? { key } : put(rows.fenced);
    const register = await passes(() => fencedUpdate(this.db, { table: 'fenced', where: { key }, set, lease }));
    const added =
      op === 'write' &&
      (await passes(() =>
        this.db.transaction(async (tx) => {
          await acceptFence(tx, { lease });
          await tx.query('INSERT INTO items (key, element, token) VALUES ($1, $2, $3)', [key, element, token]);
        }),
      ));
    if (op === 'write' && rows.plain !== undefined) {
      const { counter, elements } = put(rows.plain);
      await this.db.query('UPDATE plain SET counter = $2, elements = $3 WHERE key = $1', [key, counter, elements]);
    }
    this.audited.push({ op, key, token, tag, element, register, set: added, at: now() });
    if (op === 'write') return { fenced: EMPTY, plain: EMPTY, register, set: added };
    return { fenced: await this.row('fenced', key), plain: await this.row('plain', key), register, set: added };
  }

  private async row(table: string, key: string): Promise<Row> {
    const { rows } = await this.db.query<{ counter: number; elements: string }>(`SELECT counter, elements FROM ${table} WHERE key = $1`, [
      key,
    ]);
    const [row] = rows as [{ counter: number; elements: string }];
    return { counter: row.counter, elements: JSON.parse(row.elements) as number[] };
  }
}

const EMPTY: Row = { counter: 0, elements: [] };

/** Whether the fence accepted it. */
async function passes(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'FENCING_TOKEN_STALE') return false;
    throw error;
  }
}
