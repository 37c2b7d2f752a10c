import { setTimeout as sleep } from 'node:timers/promises';
import type { LeaseModuleOptions } from '../../lib/lease-module-options.js';
import type { Lease } from '../../lib/lease/lease.js';
import { connectAuditor, type AuditorClient } from './auditor.js';
import { startHolder } from './holder.js';

/** What a holder in a process of its own does. */
export interface HolderProcessOptions {
  readonly url?: string;
  /** In place of `url`: what the option `connection` takes, as JSON. */
  readonly connection?: LeaseModuleOptions['connection'];
  readonly auditorPort: number;
  readonly name: string;
  readonly key: string;
  readonly ttl: string;
  /** Default `10s`. */
  readonly wait?: string;
  readonly maxHold?: string;
  /** It writes every so many milliseconds, each time after `assertHeld()`. Default 5. */
  readonly everyMs?: number;
  /** It gives the lease back after so many writes; default: it keeps it. */
  readonly writes?: number;
}

const options = JSON.parse(process.argv[2] as string) as HolderProcessOptions;
const tell = (message: { type: string } & Record<string, unknown>): void => void process.send?.(message);
const holder = startHolder({ connection: options.connection ?? options.url, holder: options.name, namespace: 'attack' });
for (const type of ['lost', 'stalled', 'jeopardy', 'release-failed'] as const)
  holder.events.on(type, (event) => tell({ ...event, at: Date.now() }));

/** Works until it has done its writes or may not go on; what it does first after any pause is to ask whether it may. */
async function work(lease: Lease, auditor: AuditorClient): Promise<void> {
  const { key, everyMs = 5, writes = Infinity, name } = options;
  let blockMs = 0;
  process.on('message', (message: { type: string; ms?: number }) => {
    if (message.type === 'block') blockMs = message.ms ?? 0;
  });
  for (let done = 0; done < writes; done++) {
    if (blockMs > 0) {
      const until = performance.now() + blockMs;
      blockMs = 0;
      while (performance.now() < until);
      tell({ type: 'unblocked' });
    }
    lease.assertHeld();
    await auditor.ask({ op: 'write', resource: key, token: lease.fencingToken, holder: lease.holderTag, value: done });
    if (done === 0) tell({ type: 'writing', name });
    await sleep(everyMs);
  }
}

async function main(): Promise<void> {
  const { key, ttl, wait = '10s', maxHold, auditorPort } = options;
  const auditor = await connectAuditor(auditorPort);
  tell({ type: 'ready' });
  const lease = await holder.service.acquire(key, { ttl, wait, maxHold });
  tell({ type: 'acquired', token: lease.fencingToken, at: Date.now() });
  try {
    await work(lease, auditor);
    tell({ type: 'done' });
  } catch (error) {
    const { code, reason } = error as { code?: string; reason?: string };
    const { aborted } = lease.signal;
    tell({ type: 'stopped', code, reason, aborted, signal: String(lease.signal.reason), renewals: holder.store.calls('renew').length });
  }
  tell({ type: 'released', freed: await lease.release(), renewals: holder.store.calls('renew').length, at: Date.now() });
}

process.on('unhandledRejection', (error) => tell({ type: 'unhandled', error: String(error) }));
main().catch((error: unknown) => tell({ type: 'failed', error: String(error), code: (error as { code?: string }).code }));
process.on('message', (message: { type: string }) => {
  if (message.type === 'end') process.exit(0);
});
