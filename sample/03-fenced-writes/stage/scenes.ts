import type { Timeline } from '../../common/timeline.js';
import { tell } from '../../common/link.js';
import { ORDERS, type Database } from '../app/database.js';
import type { Worker } from './worker.js';

export interface Stage {
  readonly timeline: Timeline;
  readonly database: Database;
  readonly first: Worker;
  readonly second: Worker;
}

export async function playScenes(stage: Stage): Promise<void> {
  stage.timeline.scene('A worker freezes just before its write; another takes over. The row refuses the late write.');
  await late(stage, '33', 'ship');
  stage.timeline.scene('The same with a plain UPDATE. Nobody checks the token, and the late write wins.');
  await late(stage, '34', 'shipUnchecked');
}

async function late({ timeline, database, first, second }: Stage, order: string, how: 'ship' | 'shipUnchecked'): Promise<void> {
  await first.freezeAtNextWrite();
  const write = first[how](order);
  write.catch(() => undefined);
  await first.frozen();
  timeline.line(first.name, `ships order ${order}, and freezes just before its UPDATE leaves`);
  timeline.line(second.name, `wants to ship order ${order}, and waits for the lease, which has a ttl of 1 s`);
  timeline.line(second.name, `took over and wrote order ${order} with fencing token ${await second[how](order)}`);
  first.resume();
  timeline.line(first.name, 'is resumed; its UPDATE leaves now');
  timeline.line(first.name, await write.then((token) => `wrote with fencing token ${token}`, describe));
  const { rows } = await database.query(`SELECT shipped_by, fencing_token FROM ${ORDERS} WHERE id = $1`, [order]);
  const { shipped_by: by, fencing_token: token } = rows[0] as { shipped_by: string; fencing_token: string | number };
  const fence = Number(token) === 0 ? 'which has no fence' : `fence ${String(token)}`;
  timeline.line('database', `order ${order} is shipped by ${by}, ${fence}${by === first.name ? ': the newer write is LOST' : ''}`);
}

/** What the call of the late worker rejected with. */
function describe(error: unknown): string {
  const told = tell(error);
  const refusal = [told, told.cause].find((one) => one?.code === 'FENCING_TOKEN_STALE');
  if (refusal)
    return `its write was REFUSED (${told.code}): fencing token ${refusal.fencingToken}, the row has accepted ${refusal.current}`;
  return `its call was told that the lease is lost (${told.code}), but its write had left`;
}
