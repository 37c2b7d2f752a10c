import { StoreError } from '../lease-store.js';
import type {
  ConfirmRequest,
  ConfirmResult,
  NodeMemory,
  NodeRenewRequest,
  NodeRenewResult,
  QuorumNode,
  Recalled,
  RecallRequest,
} from '../quorum-node.js';
import { escapePart, type LeaseKeys } from './keys.js';
import type { RedisConnection } from './connection.js';
import { toStoreError } from './redis-errors.js';
import { foreign, unreadable } from './replies.js';
import type { Asked, ScriptCalls } from './script-calls.js';
import { confirmScript } from './scripts/confirm.script.js';
import { recallScript } from './scripts/recall.script.js';
import { readSettings } from './server-info.js';

/** A single Redis as one node of a quorum. */
export class RedisQuorumNode implements QuorumNode {
  /** Whether that run of the server keeps every write through a restart. */
  private durable: { readonly run: string; readonly keeps: boolean } | undefined;

  /** What was asked in this turn, with and without the question for memory. */
  private readonly confirming = new Map<boolean, Asked[]>();

  constructor(
    private readonly keys: LeaseKeys,
    private readonly calls: ScriptCalls,
    private readonly connection: RedisConnection,
    private readonly retention: readonly number[],
  ) {}

  async confirm({ key, holderId, fencingToken, memory }: ConfirmRequest): Promise<ConfirmResult> {
    const [lease, fence] = this.keys.ofHeld(key);
    const reply = await new Promise((settle: (reply: unknown) => void, fail) => {
      this.gather(memory, { keys: [lease, fence], args: [escapePart(holderId), 0, fencingToken], settle, fail });
    });
    const result = readConfirm(reply, lease);
    if (result.kind === 'ahead') return result;
    if (result.kind !== 'held') return { kind: result.kind };
    const [, run, uptime] = Array.isArray(reply) ? (reply as [string, string, number]) : [];
    return { kind: 'confirmed', ...(run === undefined ? {} : { memory: await this.memory(run, uptime ?? -1) }) };
  }

  /** Rejects never; what could not be asked is `unknown`. */
  renew(requests: readonly NodeRenewRequest[]): Promise<NodeRenewResult[]> {
    const asked: Asked[] = [];
    const answers = requests.map(
      ({ key, holderId, ttlMs, fencingToken }) =>
        new Promise<NodeRenewResult>((resolve) => {
          const [lease, fence] = this.keys.ofHeld(key);
          const fail = (error: StoreError): void => resolve({ kind: 'unknown', error });
          const settle = (reply: unknown): void => resolve(readConfirm(reply, lease));
          asked.push({ keys: [lease, fence], args: [escapePart(holderId), ttlMs, fencingToken], settle, fail });
        }),
    );
    this.calls.send(confirmScript, [...this.retention, 0, 0], asked);
    return Promise.all(answers);
  }

  async recall({ key, memory }: RecallRequest): Promise<Recalled> {
    const [lease, fence] = this.keys.ofHeld(key);
    const reply = await new Promise((settle: (reply: unknown) => void, fail) => {
      this.calls.send(recallScript, [memory ? 1 : 0], [{ keys: [fence], args: [], settle, fail }]);
    });
    const [kind, token, run, uptime] = Array.isArray(reply) ? (reply as [string, number, string | undefined, number | undefined]) : [];
    if (kind === 'foreign') throw foreign(lease, 'fence');
    if (kind !== 'fence' || token === undefined) throw unreadable(reply);
    return { fence: token, ...(run === undefined ? {} : { memory: await this.memory(run, uptime ?? -1) }) };
  }

  /** What is confirmed in one turn of the event loop travels together. */
  private gather(memory: boolean, asked: Asked): void {
    const waiting = this.confirming.get(memory) ?? [];
    waiting.push(asked);
    if (waiting.length > 1) return;
    this.confirming.set(memory, waiting);
    process.nextTick(() => {
      this.confirming.delete(memory);
      this.calls.send(confirmScript, [...this.retention, 1, memory ? 1 : 0], waiting);
    });
  }

  private async memory(run: string, uptime: number): Promise<NodeMemory> {
    if (uptime < 0) return { run, rememberedMs: undefined };
    if (await this.keepsEverything(run)) return { run, rememberedMs: Infinity };
    // Counted in whole seconds of two clocks: a server that says 3 s may have been up for little more than 2.
    return { run, rememberedMs: Math.max(0, uptime - 1) * 1000 };
  }

  /** Where it would not say, it does not. Asked once in each run: the setting of a server that runs is taken to stay. */
  private async keepsEverything(run: string): Promise<boolean> {
    if (this.durable?.run === run) return this.durable.keeps;
    try {
      const reply = await this.connection.run((client) => client.config('GET', 'append*'));
      const setting = readSettings(reply);
      this.durable = { run, keeps: setting.get('appendonly') === 'yes' && setting.get('appendfsync') === 'always' };
    } catch (error) {
      // What is refused is refused again; what got lost is asked with the next lease.
      if (toStoreError(error).kind === 'transient') return false;
      this.durable = { run, keeps: false };
    }
    return this.durable.keeps;
  }
}

/** Reply of `confirm` for one lease. @throws StoreError */
function readConfirm(reply: unknown, lease: string): { kind: 'held' | 'gone' | 'taken' } | { kind: 'ahead'; fencingToken: number } {
  if (reply === 1) return { kind: 'held' };
  if (reply === 0) return { kind: 'gone' };
  const [kind, value] = Array.isArray(reply) ? (reply as [string, unknown]) : [];
  switch (kind) {
    case 'held':
    case 'taken':
      return { kind };
    case 'ahead':
      return { kind, fencingToken: Number(value) };
    case 'foreign':
      throw foreign(lease, value);
    case 'floor':
      throw new StoreError('floor', `the token of the quorum for "${lease}" lies more than a day ahead of the clock of a node`);
    case 'unraised':
      throw new StoreError('transient', `the fence "${lease}:fence" could not be raised on a node`);
    default:
      throw unreadable(reply);
  }
}
