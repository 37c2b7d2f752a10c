import type { LeaseStore } from 'nestjs-lease';
import { CutStore } from '../../common/cut-store.js';
import type { Database } from '../app/database.js';
import { bootWorker, type Worker } from './worker.js';

/**
 * A worker in this process. It alone cannot be stopped, so "frozen" is played: its calls to the store and its write get no
 * further until it is resumed.
 */
export async function startMemoryWorker(name: string, shared: LeaseStore, database: Database): Promise<Worker> {
  const store = new CutStore(shared);
  let freezes = (): void => undefined;
  let goOn = (): void => undefined;
  const frozen = new Map<'next', Promise<void>>();
  const app = await bootWorker(name, { store }, database, () => {
    store.cut();
    freezes();
    return new Promise((resolve) => (goOn = resolve));
  });
  return {
    name,
    ship: (id) => app.ship(id),
    shipUnchecked: (id) => app.shipUnchecked(id),
    freezeAtNextWrite: async () => {
      frozen.set('next', new Promise((resolve) => (freezes = resolve)));
      app.arm();
      await Promise.resolve();
    },
    frozen: () => frozen.get('next') ?? Promise.resolve(),
    resume: () => {
      store.heal();
      goOn();
    },
  };
}
