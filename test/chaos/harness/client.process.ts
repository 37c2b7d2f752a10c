import { setTimeout as sleep } from 'node:timers/promises';
import { LeaseEvents } from '../../../lib/events/lease-events.js';
import { ClientContext } from '../../../lib/execution/client-context.js';
import { LeaseContext } from '../../../lib/execution/lease-context.js';
import { resolveModuleOptions } from '../../../lib/lease-module-options-check.js';
import { createLeaseRuntime } from '../../../lib/lease-runtime.js';
import type { Lease } from '../../../lib/lease/lease.js';
import { seeded } from '../../support/fuzz-random.js';
import { ShiftedClock } from '../../support/holder-clock.js';
import { LineClient } from '../../support/line-server.js';
import { runJob } from './client-job.js';
import { makeStore, type StoreSpec } from './client-store.js';
import { now } from './history.js';
import type { ResourceReply, ResourceRequest, Row } from './resource.js';
import type { Workload } from './workloads.js';

type ResourceClient = LineClient<ResourceRequest, ResourceReply>;

/** How a client is started. */
export interface ClientOptions {
  readonly name: string;
  /** Makes the elements that it adds unique. */
  readonly number: number;
  readonly seed: number;
  readonly store: StoreSpec;
  readonly namespace: string;
  readonly resourcePort: number;
  readonly ttlMs: number;
  readonly workloads: readonly Workload[];
  /** The scheduled job, where the store has any. */
  readonly cron: boolean;
  /** It goes on without asking whether it still holds its lease, and says that it has: to see that this is found out. */
  readonly broken: boolean;
}

const options = JSON.parse(process.argv[2] as string) as ClientOptions;
const random = seeded(options.seed);
const clock = new ShiftedClock();
const events = new LeaseEvents();
const store = makeStore(options.store, options.namespace);
const resolved = resolveModuleOptions({ store, holder: options.name, commandTimeout: '600ms' });
const runtime = createLeaseRuntime({ options: resolved, store, clock, events, context: new LeaseContext(), client: new ClientContext() });
const tell = (type: string, more: Record<string, unknown> = {}): void => void process.send?.({ type, client: options.name, ...more });
let ending = false;
let added = 0;

process.on('unhandledRejection', (error) => tell('crash', { error: String((error as Error).stack ?? error) }));
process.on('message', (message: { type: string; ms?: number }) => {
  if (message.type === 'end') ending = true;
  if (message.type === 'wall-clock') clock.stepWall(message.ms ?? 0);
  if (message.type === 'suspend') clock.suspend(message.ms ?? 0);
});

/** Asks whether the lease is held; says so, with the time before. */
function check(lease: Lease): void {
  const at = now();
  if (!options.broken) lease.assertHeld();
  tell('pass', { key: lease.key, token: lease.fencingToken, tag: lease.holderTag, at });
}

/** Reads the rows, thinks, and writes one more into each. */
async function addOne(lease: Lease, resource: ResourceClient, { thinkMs, checks }: Workload): Promise<void> {
  const about = { key: lease.key, token: lease.fencingToken, tag: lease.holderTag };
  const read = await resource.ask({ op: 'read', ...about });
  // A fence that refuses says that somebody newer is at work.
  if (checks && !read.register && !options.broken) throw new Error('fenced');
  await sleep(random() * thinkMs);
  if (checks) check(lease);
  const element = options.number * 100_000 + added++;
  const more = ({ counter, elements }: Row): Row => ({ counter: counter + 1, elements: [...elements, element] });
  await resource.ask({ op: 'write', ...about, element, fenced: more(read.fenced), plain: more(read.plain) });
}

async function work(workload: Workload, resource: ResourceClient): Promise<void> {
  const { key, holdMs, writes } = workload;
  const askedAt = now();
  const lease = await runtime.service.acquire(key, { ttl: `${String(options.ttlMs)}ms`, wait: '20s' });
  tell('grant', { key, token: lease.fencingToken, tag: lease.holderTag, askedAt, at: now() });
  try {
    const until = now() + random() * holdMs;
    do {
      if (workload.checks) check(lease);
      if (writes) await addOne(lease, resource, workload);
      else await sleep(random() * 10);
    } while (now() < until && !ending);
  } finally {
    await lease.release();
  }
}

async function loop(workload: Workload, resource: ResourceClient): Promise<void> {
  while (!ending) {
    try {
      await work(workload, resource);
    } catch (error) {
      tell('failed', { key: workload.key, code: (error as { code?: string }).code ?? String(error), at: now() });
      await sleep(20);
    }
    await sleep(random() * workload.pauseMs);
  }
}

async function main(): Promise<void> {
  const resource = await LineClient.connect<ResourceRequest, ResourceReply>(options.resourcePort);
  const runner = options.cron ? runJob(runtime, (run) => tell('run', { ...run })) : undefined;
  tell('ready');
  await Promise.all(options.workloads.map((workload) => loop(workload, resource)));
  runner?.close();
  tell('ended');
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.exit(0);
}

main().catch((error: unknown) => tell('crash', { error: String(error) }));
