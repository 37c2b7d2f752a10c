import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { acceptFence, explainNoRows, fencedUpdate, sqlClientOf, SqlFragment } from 'nestjs-lease/fencing';
import type { ClientUnderTest } from './sql-clients.js';
import { classicStory, holder, type Holder } from './stories.js';

/** What a suite knows of its server. */
export interface Server {
  /** Runs a statement of the test's own. */
  ask(text: string): Promise<Record<string, unknown>[]>;
}

/** Every way in which a client library writes past a fence, against a real server. Tables: `accounts` (row 7) and `lease_fence`. */
export function sqlStories(title: string, open: () => Promise<ClientUnderTest>, server: () => Server): void {
  describe(title, () => {
    let client: ClientUnderTest;
    beforeAll(async () => {
      client = await open();
    });
    afterAll(async () => {
      await client.close();
    });
    beforeEach(async () => {
      await server().ask('DELETE FROM lease_fence');
      await server().ask("UPDATE accounts SET balance = 0, fencing_token = 0, fencing_holder = ''");
    });

    const balance = async (): Promise<number> => Number((await server().ask('SELECT balance FROM accounts WHERE id = 7'))[0]?.balance);
    const row = (lease: Holder, id = 7) => ({ table: 'accounts', where: { id }, lease });
    const inTransaction = async (lease: Holder, value: number): Promise<number> => {
      let rows = 0;
      await client.transaction(async (tx) => void (rows = await fencedUpdate(tx, { ...row(lease), set: { balance: value } })));
      return rows;
    };
    const besides = async (lease: Holder, value: number): Promise<number> => {
      await client.transaction(async (tx) => {
        await acceptFence(tx, { lease });
        await sqlClientOf(tx).run(new SqlFragment(['UPDATE accounts SET balance = ', ' WHERE id = 7'], [value]));
      });
      return 1;
    };
    const own = async (lease: Holder, value: number): Promise<number> => {
      const rows = await client.own(lease, 7, value);
      if (rows === 0) await explainNoRows(client.direct, row(lease));
      return rows;
    };

    it.each([
      ['fencedUpdate', (lease: Holder, value: number) => fencedUpdate(client.direct, { ...row(lease), set: { balance: value } })],
      ['fencedUpdate in a transaction', inTransaction],
      ['acceptFence and any write in a transaction', besides],
      ['a statement of its own with fenceColumns', own],
    ])('refuses the holder that was paused: %s', async (_name, write) => {
      await classicStory(write);
      expect(await balance()).toBe(5);
    });

    it('tells zero rows apart: no such row, or stale', async () => {
      expect(await fencedUpdate(client.direct, { ...row(holder(33), 8), set: { balance: 1 } })).toBe(0);
      expect(await client.own(holder(33), 8, 1)).toBe(0);
      expect(await explainNoRows(client.direct, row(holder(33), 8))).toBe('no-such-row');
      expect(await explainNoRows(client.direct, row(holder(33)))).toBe('not-stale');
    });

    it('a transaction that is rolled back leaves no fence', async () => {
      const [a, b] = [holder(33), holder(34)];
      const failing = client.transaction(async (tx) => {
        await fencedUpdate(tx, { ...row(b), set: { balance: 2 } });
        await acceptFence(tx, { lease: b });
        throw new Error('rolled back');
      });
      await expect(failing).rejects.toThrow('rolled back');
      expect(await inTransaction(a, 1)).toBe(1);
      expect(await besides(a, 1)).toBe(1);
      expect(await balance()).toBe(1);
    });

    it('refuses a fence that would commit before its write', async () => {
      await expect(acceptFence(client.direct, { lease: holder(33) })).rejects.toMatchObject({
        code: 'LEASE_OPTIONS_INVALID',
        option: 'client',
      });
      expect(await server().ask('SELECT * FROM lease_fence')).toEqual([]);
    });

    it('a column too small for a token is a mistake in the schema, not a stale holder', async () => {
      const small = fencedUpdate(client.direct, { table: 'small', where: { id: 7 }, set: { balance: 1 }, lease: holder(33) });
      await expect(small).rejects.toMatchObject({
        code: 'LEASE_OPTIONS_INVALID',
        option: 'fencingToken',
        message: expect.stringContaining('BIGINT'),
      });
      // The user's own overflow stays the user's error.
      const own = fencedUpdate(client.direct, { table: 'accounts', where: { id: 7 }, set: { balance: 2 ** 40 }, lease: holder(33) });
      await expect(own).rejects.not.toMatchObject({ code: 'LEASE_OPTIONS_INVALID' });
    });

    it('takes values only as parameters, and names only quoted', async () => {
      const evil = `x"\`'; DROP TABLE accounts; --`;
      const where = { note: evil };
      expect(await fencedUpdate(client.direct, { table: 'accounts', where, set: { balance: 1 }, lease: holder(33) })).toBe(0);
      expect(await fencedUpdate(client.direct, { table: 'accounts', where: { id: 7 }, set: { note: evil }, lease: holder(33) })).toBe(1);
      expect(await fencedUpdate(client.direct, { table: 'accounts', where, set: { note: null }, lease: holder(33) })).toBe(1);
      expect(
        await fencedUpdate(client.direct, { table: 'accounts', where: { id: 7, note: null }, set: { balance: 9 }, lease: holder(33) }),
      ).toBe(1);
      await expect(fencedUpdate(client.direct, { table: evil, where, set: { balance: 1 }, lease: holder(33) })).rejects.toThrow();
      await expect(
        fencedUpdate(client.direct, { table: 'accounts', where: { [evil]: 1 }, set: { balance: 1 }, lease: holder(33) }),
      ).rejects.toThrow();
      expect(await balance()).toBe(9);
    });
  });
}
