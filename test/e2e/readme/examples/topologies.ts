import { LeaseModule } from 'nestjs-lease';
import assert from 'node:assert/strict';

export async function check({ sentinel, cluster, quorum }: Record<string, any>): Promise<void> {
  // Refused here if an option were wrong; nothing is opened.
  for (const options of [sentinel, cluster, quorum]) assert.ok(LeaseModule.forRoot(options).module);
  assert.equal(quorum.store.capabilities.fifo, false);
  await quorum.store.close();
}
