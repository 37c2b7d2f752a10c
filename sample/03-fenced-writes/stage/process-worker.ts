import { Child } from '../../common/child.js';
import type { Database } from '../app/database.js';
import type { Worker } from './worker.js';

const PROGRAM = new URL('./worker-process.js', import.meta.url);

/** A worker in a process of its own; SIGSTOP freezes it. PGlite lives in this process, so such a worker reaches it through here. */
export async function startProcessWorker(name: string, settings: object, database: Database): Promise<Worker> {
  let freezes = (): void => undefined;
  let frozen = Promise.resolve();
  const query = async (text: string, values: unknown[]): Promise<object> => {
    const { rows, ...counts } = await database.query(text, values);
    const { rowCount, affectedRows } = counts as { rowCount?: number; affectedRows?: number };
    return { rows, rowCount: rowCount ?? affectedRows };
  };
  const child = await Child.start(PROGRAM, { name, ...settings }, { query, frozen: () => freezes() });
  return {
    name,
    ship: (id) => child.link.call('ship', id),
    shipUnchecked: (id) => child.link.call('shipUnchecked', id),
    freezeAtNextWrite: async () => {
      frozen = new Promise((resolve) => (freezes = resolve));
      await child.link.call('arm');
    },
    frozen: () => frozen,
    resume: () => child.resume(),
  };
}
