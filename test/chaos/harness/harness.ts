import { setTimeout as sleep } from 'node:timers/promises';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { ClientSlot } from './client-slot.js';
import { now, type Amnesia, type Grant, type History, type Pass, type Run, type Stay } from './history.js';
import { Resource } from './resource.js';
import { CLIENT_FAULTS, scheduleOf, STORE_FAULTS, type Fault, type FaultKind } from './schedule.js';
import { ServerWatch } from './server-watch.js';
import { endlessKeys, onAll, type Rewatch, type Stage, type TellAmnesia } from './stage.js';
import { WORKLOADS } from './workloads.js';

export interface HarnessOptions {
  readonly seed: number;
  readonly forMs: number;
  /** After the faults everybody works on for so long. */
  readonly quietMs: number;
  readonly clients: number;
  readonly start: (clients: number, amnesia: TellAmnesia, watch: Rewatch) => Promise<Stage>;
  /** Clients do not ask whether they hold what they write under. */
  readonly broken?: boolean;
  /** Is told the schedule before it begins. */
  readonly announce?: (faults: readonly Fault[]) => void;
}

/** What came out, and how often each fault was done. */
export interface Outcome {
  readonly history: History;
  readonly faults: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
}

const NAMESPACE = 'chaos';
const TTLS_MS = [1500, 700, 1000, 2500] as const;
const KEYS = WORKLOADS.map(({ key }) => key);

/** Client processes work under leases while everything around them breaks by schedule; what happens is written down. */
export class Harness {
  private readonly amnesia: Amnesia[] = [];
  private readonly faults: Record<string, number> = {};
  private readonly endless = new Set<string>();
  private readonly doors: TcpProxy[] = [];
  private slots: ClientSlot[] = [];
  private watches: ServerWatch[] = [];
  private stage!: Stage;
  private resource!: Resource;
  private storeFaults: Promise<void> = Promise.resolve();
  private storeBusy = false;
  private readonly under: Promise<void>[] = [];

  private readonly ttlMs: number;

  private constructor(private readonly options: HarnessOptions) {
    this.ttlMs = TTLS_MS[options.seed % TTLS_MS.length] as number;
  }

  static async run(options: HarnessOptions): Promise<Outcome> {
    const harness = new Harness(options);
    try {
      return await harness.play();
    } finally {
      await harness.stop();
    }
  }

  private async play(): Promise<Outcome> {
    await this.open();
    const startedAt = now();
    for (const fault of this.schedule()) {
      await sleep(Math.max(0, startedAt + fault.atMs - now()));
      const done = this.strike(fault);
      this.under.push(done);
      done.catch(() => undefined);
      await this.scan();
    }
    await Promise.all(this.under);
    await this.heal();
    const healedAt = now();
    await sleep(this.options.quietMs);
    await this.served(healedAt);
    const endedAt = now();
    await Promise.all(this.slots.map((slot) => slot.end()));
    await this.scan();
    return this.outcome(healedAt, endedAt);
  }

  private schedule(): Fault[] {
    const { seed, forMs, announce } = this.options;
    const kinds: readonly FaultKind[] = [...CLIENT_FAULTS, ...STORE_FAULTS, ...this.stage.kinds, ...this.stage.kinds];
    const faults = scheduleOf({ seed, forMs, ttlMs: this.ttlMs, kinds });
    announce?.(faults);
    return faults;
  }

  private async open(): Promise<void> {
    const { clients, start, seed, broken = false } = this.options;
    const tell: TellAmnesia = (kind, from, until, key) =>
      void this.amnesia.push({ kind, from, until, ...(key === undefined ? {} : { key }) });
    const rewatch: Rewatch = async (node, lostAt) => {
      const watch = this.watches[node];
      if (lostAt !== undefined) watch?.forget(lostAt);
      await watch?.open();
    };
    // Not beside the servers: while the database is loaded nothing else runs, and commands to them would time out.
    this.resource = await Resource.start(KEYS);
    this.stage = await start(clients, tell, rewatch);
    const { nodes, ordered, cron } = this.stage;
    // Where nodes have one lease between them, it may move from one to another.
    const shared = this.stage.votes === 1 ? new Map<string, Stay>() : undefined;
    this.watches = nodes.map((node, i) => new ServerWatch({ server: node, node: i, namespace: NAMESPACE, keys: KEYS, ordered, shared }));
    await Promise.all(this.watches.map((watch) => watch.open()));
    for (let i = 0; i < clients; i++) {
      const door = await TcpProxy.start({ port: this.resource.port, raw: true });
      this.doors.push(door);
      const about = { store: this.stage.store(i), namespace: NAMESPACE, ttlMs: this.ttlMs, workloads: WORKLOADS, cron, seed, broken };
      this.slots.push(new ClientSlot(i, this.stage.links(i), door, about, () => this.storeFaults.catch(() => undefined)));
    }
    await Promise.all(this.slots.map((slot) => slot.start()));
  }

  private async strike(fault: Fault): Promise<void> {
    const { kind } = fault;
    if (!(CLIENT_FAULTS as readonly string[]).includes(kind)) {
      // One at a time: what comes while another lasts is left out, or a failover would have to wait for the next.
      if (this.storeBusy) return;
      this.storeBusy = true;
      this.storeFaults = this.strikeStore(fault).finally(() => (this.storeBusy = false));
      return this.storeFaults;
    }
    if (await this.victim(fault).strike(fault)) this.count(kind);
  }

  /** Somebody, or whoever has got a lease last: there it hurts most. */
  private victim({ where, holder }: Fault): ClientSlot {
    const key = KEYS[Math.floor(where * KEYS.length)];
    const latest = this.slots.map((slot) => Number(slot.last('grant', ({ key: other }) => other === key)?.at ?? 0));
    const i = holder ? latest.indexOf(Math.max(...latest)) : Math.floor(where * this.slots.length);
    return this.slots[i] as ClientSlot;
  }

  private async strikeStore(fault: Fault): Promise<void> {
    const { kind, where, forMs } = fault;
    const { nodes } = this.stage;
    const key = KEYS[Math.floor(where * KEYS.length)] as string;
    const lease = `${NAMESPACE}:{${key}}`;
    this.count(kind);
    switch (kind) {
      case 'script-flush':
        return onAll(nodes, 'SCRIPT', 'FLUSH');
      case 'cut-subscriptions':
        return onAll(nodes, 'CLIENT', 'KILL', 'TYPE', 'pubsub');
      case 'delete-lease': {
        const from = now();
        await onAll(nodes, 'DEL', lease);
        for (const watch of this.watches) watch.deleted(key, from);
        this.amnesia.push({ kind, key, from, until: now() });
        return;
      }
      case 'delete-fence':
        return onAll(nodes, 'DEL', `${lease}:fence`);
      case 'freeze-node': {
        const from = now();
        const node = nodes[Math.floor(where * nodes.length)];
        node?.freeze();
        await sleep(forMs / 2);
        node?.thaw();
        if (!this.stage.failsOver) return;
        await this.stage.heal();
        this.amnesia.push({ kind, from, until: now() });
        return;
      }
      default:
        return this.stage.strike(fault, lease);
    }
  }

  private async heal(): Promise<void> {
    for (const node of this.stage.nodes) node.thaw();
    for (const slot of this.slots) slot.thaw();
    await this.stage.heal();
    for (const proxy of [...this.doors, ...this.slots.flatMap((_, i) => this.stage.links(i))]) proxy.pass();
  }

  /** Until each key was held, or the patience is over. */
  private async served(healedAt: number): Promise<void> {
    const until = now() + 30_000;
    const waiting = (): boolean => {
      const seen = new Set(this.told('grant', 'pass').flatMap(({ key, at }) => (Number(at) > healedAt ? [String(key)] : [])));
      return KEYS.some((key) => !seen.has(key));
    };
    while (waiting() && now() < until) await sleep(50);
  }

  private async scan(): Promise<void> {
    for (const key of await endlessKeys(this.stage.nodes, NAMESPACE)) this.endless.add(key);
  }

  private told(...types: string[]): Record<string, unknown>[] {
    return this.slots.flatMap((slot) => types.flatMap((type) => slot.of(type)));
  }

  private async outcome(healedAt: number, endedAt: number): Promise<Outcome> {
    for (const watch of this.watches) watch.close();
    const failures: Record<string, number> = {};
    for (const { key, code } of this.told('failed')) {
      const what = `${String(key)}: ${String(code)}`;
      failures[what] = (failures[what] ?? 0) + 1;
    }
    const history: History = {
      ...{ keys: KEYS, ttlMs: this.ttlMs, scheduled: this.stage.cron, amnesia: this.amnesia, healedAt, endedAt, votes: this.stage.votes },
      grants: this.told('grant') as unknown as Grant[],
      passes: this.told('pass') as unknown as Pass[],
      runs: this.told('run') as unknown as Run[],
      stays: this.watches.flatMap(({ stays }) => stays),
      line: this.watches.flatMap(({ violations }) => violations),
      endless: [...this.endless],
      audited: this.resource.audited,
      rows: await this.resource.rows(),
      dead: this.slots.flatMap(({ deaths }) => deaths).filter((at) => at > healedAt - 15_000).length,
      crashes: [...this.told('crash').map(({ error }) => String(error)), ...this.slots.flatMap(({ crashed }) => crashed)],
    };
    return { history, faults: this.faults, failures };
  }

  private count(kind: string): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
  }

  private async stop(): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.stop()));
    // A fault that is not over may start another process.
    await Promise.allSettled(this.under);
    await Promise.all(this.slots.map((slot) => slot.stop()));
    for (const watch of this.watches) watch.close();
    await Promise.all(this.doors.map((door) => door.stop()));
    await this.resource?.stop();
    await this.stage?.stop();
  }
}
