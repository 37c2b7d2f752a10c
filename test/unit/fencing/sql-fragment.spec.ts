import { describe, expect, it } from '@jest/globals';
import {
  drizzleClient,
  fenceColumns,
  fenceColumnsSql,
  fenceTableSql,
  isSerializationFailure,
  readOutcome,
  sqlClientOf,
} from 'nestjs-lease/fencing';

const lease = { key: 'k', fencingToken: 33, holderTag: 'a1' };

/** What Drizzle's dialects look like from outside. */
class PgDialect {}
Object.assign(PgDialect, { [Symbol.for('drizzle:entityKind')]: 'PgDialect' });

describe('fenceColumns', () => {
  it('gives one condition in the words of every client, and the columns to set', () => {
    const { set, where } = fenceColumns(lease, { dialect: 'postgres' });
    expect(set).toEqual({ fencing_token: 33, fencing_holder: 'a1' });
    const text = (marks: string[]) =>
      `(COALESCE("fencing_token", 0) < ${marks[0]!} OR ("fencing_token" = ${marks[1]!} AND "fencing_holder" = ${marks[2]!}))`;
    expect(where.numbered()).toEqual([text(['$1', '$2', '$3']), [33, 33, 'a1']]);
    expect(where.numbered(5)[0]).toBe(text(['$5', '$6', '$7']));
    expect(where.positional()).toEqual([text(['?', '?', '?']), [33, 33, 'a1']]);
    expect(where.named()).toEqual([text([':fence1', ':fence2', ':fence3']), { fence1: 33, fence2: 33, fence3: 'a1' }]);
    const tagged = where.tag((strings: TemplateStringsArray, ...values: unknown[]) => ({ strings, values }));
    expect(tagged.strings).toHaveLength(4);
    expect(tagged.strings.raw).toEqual([...tagged.strings]);
    expect(tagged.values).toEqual([33, 33, 'a1']);
  });

  it('quotes names for its dialect', () => {
    const options = { table: 'app.t`"', token: 'to`"k' } as const;
    expect(fenceColumns(lease, { dialect: 'mysql', ...options }).where.positional()[0]).toContain('COALESCE(`app`.`t``"`.`to``"k`, 0)');
    expect(fenceColumns(lease, { dialect: 'postgres', ...options }).where.positional()[0]).toContain('COALESCE("app"."t`"""."to`""k", 0)');
  });

  it.each(['', 'a?b', 'a\0b', 'a..b'])('refuses the table name %j', (table) => {
    expect(() => fenceColumns(lease, { dialect: 'mysql', table })).toThrow(
      expect.objectContaining({ code: 'LEASE_OPTIONS_INVALID', option: 'table' }),
    );
  });
});

describe('migrations', () => {
  it('keep tokens in BIGINT', () => {
    expect(fenceColumnsSql('postgres', 'accounts')).toBe(
      `ALTER TABLE "accounts" ADD COLUMN "fencing_token" BIGINT NOT NULL DEFAULT 0, ADD COLUMN "fencing_holder" VARCHAR(64) NOT NULL DEFAULT ''`,
    );
    expect(fenceTableSql('mysql', 'app.fences')).toMatch(
      /^CREATE TABLE `app`\.`fences` .*utf8mb4_bin NOT NULL PRIMARY KEY, `fencing_token` BIGINT NOT NULL/,
    );
  });
});

describe('clients', () => {
  it('a SqlClient of the user is taken as it is', () => {
    const client = { dialect: 'mysql', run: () => Promise.reject(new Error('unused')) } as const;
    expect(sqlClientOf(client)).toBe(client);
  });

  it.each([
    [{}, 'not known'],
    [{ query: () => 0, options: { type: 'sqlite' } }, 'sqlite'],
    [{ raw: () => 0, client: { dialect: 'mssql' } }, 'mssql'],
    [{ dialect: new PgDialect(), execute: () => 0 }, 'drizzleClient'],
  ])('refuses a client that it does not know: %#', (client, hint) => {
    expect(() => sqlClientOf(client)).toThrow(hint);
  });

  it('drizzleClient refuses what is not Drizzle', () => {
    expect(() => drizzleClient({ execute: () => 0 }, (strings) => strings)).toThrow('Drizzle');
  });

  it.each([
    ['pg', { rows: [{ a: 1 }], rowCount: 1 }, [{ a: 1 }], 1],
    ['pg, no rows', { rows: [], rowCount: 3 }, [], 3],
    ['PGlite', { rows: [], affectedRows: 2 }, [], 2],
    ['mysql2 rows', [[{ a: 1 }], ['fields']], [{ a: 1 }], 1],
    ['mysql2 header', [{ affectedRows: 2, serverStatus: 2 }, undefined], [], 2],
    ['TypeORM rows', [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 2 }], 2],
    ['TypeORM update', [[{ a: 1 }], 1], [{ a: 1 }], 1],
    ['TypeORM header', { affectedRows: 2, serverStatus: 3 }, [], 2],
    ['nothing', undefined, [], 0],
  ])('reads the result of %s', (_name, result, rows, affected) => {
    expect(readOutcome(result)).toMatchObject({ rows, affected });
  });
});

describe('isSerializationFailure', () => {
  it.each([
    [{ code: '40001' }, true],
    [{ errno: 1213 }, true],
    [{ cause: { code: '40P01' } }, true],
    [{ driverError: { code: 'ER_CHECKREAD' } }, true],
    [{ code: '23505' }, false],
    [undefined, false],
    ['40001', false],
  ])('%j: %p', (error, expected) => {
    expect(isSerializationFailure(error)).toBe(expected);
  });

  it('ends on an error that is its own cause', () => {
    const error: { cause?: unknown } = {};
    error.cause = error;
    expect(isSerializationFailure(error)).toBe(false);
  });
});
