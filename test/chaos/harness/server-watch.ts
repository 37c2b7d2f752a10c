import type { RedisServer } from '../../support/redis-server.js';
import { LineModel } from '../waiting/line-model.js';
import type { Stay } from './history.js';
import { Monitor, type Monitored } from './monitor.js';

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

  constructor(
    private readonly server: RedisServer,
    private readonly node: number,
    namespace: string,
    keys: readonly string[],
    /** Whether it knows the lines from their beginning. */
    private readonly judgesLines: boolean,
  ) {
    this.leases = new Map(keys.map((key) => [`${namespace}:{${key}}`, key]));
    this.forget(0);
  }

  /** Begins, also anew after the node was started again; it is there when this resolves. */
  async open(): Promise<void> {
    this.monitor?.close();
    this.monitor = await Monitor.open(this.server, (seen) => this.see(seen));
  }

  /** The node has forgotten everything, at that time at the latest. */
  forget(at: number): void {
    for (const key of this.current.keys()) this.end(at, key);
    for (const line of this.lines.values()) this.violations.push(...line.violations);
    this.lines = new Map([...this.leases.keys()].map((lease) => [lease, new LineModel(lease)]));
  }

  close(): void {
    this.forget(Infinity);
    this.monitor?.close();
    this.monitor = undefined;
  }

  private see({ at, args, source }: Monitored): void {
    const [command = '', name = '', ...rest] = args;
    if (source !== 'lua') for (const line of this.lines.values()) line.begin(args);
    else if (this.judgesLines) for (const line of this.lines.values()) line.see({ at, args, source });
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
    const stay: Stay = { node: this.node, key, tag, token: Number(token), from: at, to };
    if (stay.token <= (this.highest.get(key) ?? 0))
      this.violations.push(`${key}: token ${token} after ${String(this.highest.get(key))} on node ${String(this.node)}`);
    this.highest.set(key, stay.token);
    this.stays.push(stay);
    this.current.set(key, stay);
  }

  private extend(at: number, key: string, ttl: number): void {
    const stay = this.current.get(key);
    if (stay && stay.to >= at) stay.to = at + ttl;
  }

  private end(at: number, key: string): void {
    const stay = this.current.get(key);
    if (stay) stay.to = Math.min(stay.to, at);
    this.current.delete(key);
  }
}
