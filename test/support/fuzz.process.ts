import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease } from '../../lib/lease/lease.js';
import { connectAuditor, type AuditorClient } from './auditor.js';
import { startHolder } from './holder.js';
import { seeded } from './fuzz-random.js';

/** One of several processes that fight for one counter. */
export interface FuzzWorkerOptions {
  readonly url: string;
  readonly auditorPort: number;
  readonly key: string;
  readonly seed: number;
  readonly ttlMs: number;
}

const options = JSON.parse(process.argv[2] as string) as FuzzWorkerOptions;
const tell = (message: { type: string } & Record<string, unknown>): void => void process.send?.(message);
const holder = startHolder({ connection: options.url, namespace: 'fuzz', holder: `worker ${String(process.pid)}` });
const random = seeded(options.seed);
let ending = false;
process.on('message', (message: { type: string }) => {
  if (message.type === 'end') ending = true;
});
process.on('unhandledRejection', (error) => tell({ type: 'unhandled', error: String(error) }));

/** Reads, pauses, writes one more: an update is lost when two do it at once. Not a word of protection but the lease. */
async function increment(lease: Lease, auditor: AuditorClient): Promise<void> {
  const { key: resource } = options;
  const about = { resource, token: lease.fencingToken, holder: lease.holderTag };
  tell({ type: 'acquired', token: lease.fencingToken });
  const { plain, fenced } = await auditor.ask({ op: 'read', ...about });
  const pause = random();
  if (pause < 0.15) {
    const until = performance.now() + pause * 200;
    while (performance.now() < until);
  } else await sleep(pause * 8);
  lease.assertHeld();
  const { accepted } = await auditor.ask({ op: 'update', ...about, value: plain + 1, fencedValue: fenced + 1 });
  lease.assertHeld();
  tell({ type: 'wrote', token: lease.fencingToken, accepted });
}

async function main(): Promise<void> {
  const auditor = await connectAuditor(options.auditorPort);
  tell({ type: 'ready' });
  while (!ending) {
    try {
      await holder.service.withLease(options.key, { ttl: `${String(options.ttlMs)}ms`, wait: '5s' }, (lease) => increment(lease, auditor));
    } catch (error) {
      tell({ type: 'failed', code: (error as { code?: string }).code ?? String(error) });
    }
  }
  tell({ type: 'ended' });
  process.exit(0);
}

void main();
