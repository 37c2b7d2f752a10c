import type { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { LineModel, type Monitored } from '../waiting/line-model.js';
import type { Stay } from './history.js';
import { Monitor } from './monitor.js';

/** What is watched. */
export interface ServerWatchOptions {
  readonly server: RedisServer;
  /** Its number. */
  readonly node: number;
  readonly namespace: string;
  readonly keys: readonly string[];
  /** The order of the lines is judged: the node knows them from their beginning. */
  readonly ordered: boolean;
  /** The newest lease of each key on any node, where a lease can move from one node to another. */
  readonly shared: Map<string, Stay> | undefined;
}

/** Writes down what one node does with the leases of a namespace, and what becomes of their lines. */
export class ServerWatch {
  readonly stays: Stay[] = [];
  /** Violations of the order of the line, and tokens of later grants that are not higher. */
  readonly violations: string[] = [];
  private readonly current = new Map<string, Stay>();
  private readonly leases: ReadonlyMap<string, string>;
  private readonly highest = new Map<string, number>();
  private lines = new Map<string, LineModel>();
  private monitor: Monitor | undefined;
  private over = false;

  constructor(private readonly options: ServerWatchOptions) {
    this.leases = new Map(options.keys.map((key) => [`${options.namespace}:{${key}}`, key]));
    this.forget(0);
  }

  /** Begins, also anew after the node was started again; it is there when this resolves. */
  async open(): Promise<void> {
    this.monitor?.close();
    this.monitor = undefined;
    // A server that becomes a primary sends everybody away.
    const closed = (): void => void this.open().catch(() => undefined);
    const open = async (): Promise<boolean> => {
      if (this.over || this.monitor) return true;
      const monitor = await Monitor.open(this.options.server, (seen) => this.see(seen), closed);
      // Somebody else may have opened one meanwhile.
      if (this.over || this.monitor) monitor.close();
      else this.monitor = monitor;
      return true;
    };
    await waitFor(open, { timeoutMs: 60_000, message: 'MONITOR' });
  }

  /** The node has forgotten everything, at that time at the latest. */
  forget(at: number): void {
    for (const key of this.current.keys()) this.end(at, key);
    for (const line of this.lines.values()) this.violations.push(...line.violations);
    this.lines = new Map([...this.leases.keys()].map((lease) => [lease, new LineModel(lease)]));
  }

  /** Somebody deleted the lease of a key. */
  deleted(key: string, at: number): void {
    this.end(at, key);
  }

  close(): void {
    this.over = true;
    this.forget(Infinity);
    this.monitor?.close();
    this.monitor = undefined;
  }

  private see({ at, args, source }: Monitored): void {
    const [command = '', name = '', ...rest] = args;
    if (source !== 'lua') {
      // Also what a replica hears of its primary: not what a client asked.
      for (const line of this.lines.values()) line.begin(args);
      return;
    }
    if (this.options.ordered) for (const line of this.lines.values()) line.see({ at, args, source });
    const key = this.leases.get(name);
    if (key === undefined) return;
    switch (command.toUpperCase()) {
      case 'SET':
        this.set(at, key, rest);
        return;
      case 'PEXPIRE':
        this.extend(at, key, Number(rest[0]));
        return;
      case 'DEL':
      case 'UNLINK':
        this.end(at, key);
    }
  }

  private set(at: number, key: string, [value = '', ...rest]: readonly string[]): void {
    const [, token = '', , , state = '', tag = ''] = value.split(' ');
    const before = this.current.get(key);
    const to = at + Number(rest[rest.findIndex((word) => word.toUpperCase() === 'PX') + 1]);
    if (state === 'h' && before?.tag === tag && before.to >= at) {
      before.to = Math.max(before.to, to);
      return;
    }
    this.end(at, key);
    if (state !== 'h') return;
    const stay: Stay = { node: this.options.node, key, tag, token: Number(token), from: at, to };
    if (stay.token <= (this.highest.get(key) ?? 0))
      this.violations.push(`${key}: token ${token} after ${String(this.highest.get(key))} on node ${String(this.options.node)}`);
    this.highest.set(key, stay.token);
    this.begin(stay);
  }

  private begin(stay: Stay): Stay {
    this.stays.push(stay);
    this.current.set(stay.key, stay);
    this.options.shared?.set(stay.key, stay);
    return stay;
  }

  /** A lease that was granted on another node, and has come here with its slot, or because this one has become the primary. */
  private moved(at: number, key: string): Stay | undefined {
    const stay = this.options.shared?.get(key);
    return stay && stay.to >= at ? this.begin({ ...stay, node: this.options.node, from: at }) : undefined;
  }

  private extend(at: number, key: string, ttl: number): void {
    const own = this.current.get(key);
    const stay = own && own.to >= at ? own : this.moved(at, key);
    if (stay) stay.to = at + ttl;
  }

  private end(at: number, key: string): void {
    // Not that of another node: there may be two primaries for a while.
    const stay = this.current.get(key);
    if (stay) stay.to = Math.min(stay.to, at);
    this.current.delete(key);
  }
}
