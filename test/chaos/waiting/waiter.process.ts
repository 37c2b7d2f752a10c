import { setTimeout as sleep } from 'node:timers/promises';
import { startHolder } from '../../support/holder.js';
import { sharedNow as at } from '../../support/shared-clock.js';

/** A process whose calls wait for leases. */
export interface WaiterProcessOptions {
  readonly url: string;
  readonly namespace: string;
  readonly commandTimeout?: string;
}

/** One call that it is told to make; `cancelMs` aborts it, `holdMs` is how long the lease is kept (for ever when left out). */
export interface WaitOrder {
  readonly type: 'wait';
  readonly id: string;
  readonly key: string;
  readonly ttl: string;
  readonly wait: string;
  readonly holdMs?: number;
  readonly cancelMs?: number;
}

const { url, namespace, commandTimeout } = JSON.parse(process.argv[2] as string) as WaiterProcessOptions;
const holder = startHolder({ connection: url, namespace, ...(commandTimeout === undefined ? {} : { commandTimeout }) });
const tell = (type: string, id: string, more: Record<string, unknown> = {}): void => void process.send?.({ type, id, at: at(), ...more });
process.on('unhandledRejection', (error) => tell('unhandled', '', { error: String(error) }));

async function carryOut({ id, key, ttl, wait, holdMs, cancelMs }: WaitOrder): Promise<void> {
  const controller = new AbortController();
  if (cancelMs !== undefined) setTimeout(() => controller.abort(new Error('cancelled')), cancelMs);
  tell('asked', id);
  try {
    const lease = await holder.service.acquire(key, { ttl, wait, signal: controller.signal });
    tell('granted', id, { token: lease.fencingToken, tag: lease.holderTag });
    if (holdMs === undefined) return;
    await sleep(holdMs);
    // The last moment at which it may believe that it holds the lease.
    const held = !lease.signal.aborted && lease.remainingMs() > 0;
    tell('ends', id, { token: lease.fencingToken, held });
    tell('released', id, { token: lease.fencingToken, freed: await lease.release() });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    tell('failed', id, { code: code ?? message });
  }
}

process.on('message', (message: WaitOrder | { type: 'orders'; orders: WaitOrder[] }) => {
  if (message.type === 'wait') void carryOut(message);
  else for (const order of message.orders) void carryOut(order);
});
void holder.service.inspect('warm-up').then(() => tell('ready', ''));
