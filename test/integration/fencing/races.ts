import { expect, it } from '@jest/globals';
import { acceptFence, fencedUpdate, isSerializationFailure, sqlClientOf, SqlFragment } from 'nestjs-lease/fencing';
import { holder, type Holder } from './stories.js';

/** One transaction of a client library, at an isolation level of its server. */
export type Transact = (isolation: string, work: (tx: object) => Promise<unknown>) => Promise<unknown>;

/** What a race needs of its server. Tables: `accounts` (row 7), `lease_fence` and `journal (seq auto, token)`. */
export interface RaceTrack {
  transact(): Transact;
  ask(text: string): Promise<Record<string, unknown>[]>;
}

const WRITERS = 50;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * 15));

const ways = {
  'a fence on the row': async (tx: object, lease: Holder): Promise<void> => {
    const set = { balance: lease.fencingToken % 1000 };
    expect(await fencedUpdate(tx, { table: 'accounts', where: { id: 7 }, set, lease })).toBe(1);
  },
  'a fence table': (tx: object, lease: Holder): Promise<void> => acceptFence(tx, { lease }),
};

/** 50 holders, paused at random before and after their write, each in its own transaction. */
export function sqlRaces(isolations: readonly string[], track: RaceTrack): void {
  for (const isolation of isolations) {
    it.each(Object.entries(ways))(
      `50 writers at ${isolation}: no write after one with a higher token: %s`,
      async (_name, write) => {
        await track.ask('DELETE FROM journal');
        await track.ask('DELETE FROM lease_fence');
        await track.ask("UPDATE accounts SET fencing_token = 0, fencing_holder = ''");
        let conflicts = 0;

        const race = async (lease: Holder): Promise<'written' | 'stale'> => {
          await pause();
          for (;;) {
            try {
              await track.transact()(isolation, async (tx) => {
                await write(tx, lease);
                await pause();
                // In the order of the fence's lock, which is held until the commit.
                await sqlClientOf(tx).run(new SqlFragment(['INSERT INTO journal (token) VALUES (', ')'], [lease.fencingToken]));
              });
              return 'written';
            } catch (error) {
              if ((error as { code?: unknown }).code === 'FENCING_TOKEN_STALE') return 'stale';
              if (!isSerializationFailure(error)) throw error;
              conflicts++;
              await pause();
            }
          }
        };
        const results = await Promise.all(Array.from({ length: WRITERS }, (_, index) => race(holder(index + 1))));

        const journal = (await track.ask('SELECT token FROM journal ORDER BY seq')).map((row) => Number(row.token));
        expect(journal).toEqual([...journal].sort((a, b) => a - b));
        expect(new Set(journal).size).toBe(journal.length);
        expect(journal.at(-1)).toBe(holder(WRITERS).fencingToken);
        expect(results.filter((result) => result === 'written')).toHaveLength(journal.length);
        expect(journal.length).toBeLessThan(WRITERS);
        if (isolation === 'READ COMMITTED') expect(conflicts).toBe(0);
      },
      30_000,
    );
  }
}
