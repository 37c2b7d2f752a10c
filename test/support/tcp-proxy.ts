import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeCommand, RequestReader } from './resp.js';

/** `request`: from the client to the server. `reply`: back. */
export type ProxyDirection = 'request' | 'reply';

/** What happens to one command on its way to Redis: passed on, the connection is reset, or Redis answers this error in its place. */
export type CommandFate = 'pass' | 'reset' | { readonly error: string };

/** What a proxy stands in front of. */
export interface ProxyTarget {
  readonly port: number;
  readonly host?: string;
  /** Not only clients of Redis come: nothing is read, and {@link TcpProxy.commands} does nothing. */
  readonly raw?: boolean;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket | undefined;
  /** Half-open: it forwards nothing, and its client is not told. */
  dead: boolean;
  /** Something on it was lost: a connection never goes on after that, or answers would be taken for those of other questions. */
  torn: boolean;
}

/**
 * A TCP proxy with a script for each direction. A change holds for open and for new connections, until the next change;
 * `pass()` makes everything well again (what was dropped stays lost).
 */
export class TcpProxy {
  readonly host = '127.0.0.1';
  /** Connections accepted so far. */
  connections = 0;
  /** Connections refused so far. */
  refused = 0;
  private readonly pairs = new Set<Pair>();
  private readonly dropped: Record<ProxyDirection, boolean> = { request: false, reply: false };
  private readonly delays: Record<ProxyDirection, number> = { request: 0, reply: 0 };
  private refusing = false;
  private deaf = false;
  private judge: ((command: readonly string[]) => CommandFate) | undefined;

  private constructor(
    private readonly server: Server,
    private readonly target: ProxyTarget,
  ) {
    server.on('connection', (client) => this.accept(client));
  }

  /** Listens on a free loopback port, in front of `target`, which is looked at for each connection. */
  static async start(target: ProxyTarget): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, target);
    await new Promise<void>((resolve) => server.listen(0, proxy.host, resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://${this.host}:${String(this.port)}`;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.pairs.size;
  }

  /** Ends every fault. Open half-open connections stay dead, and those on which something was dropped are reset. */
  pass(): this {
    for (const pair of this.pairs) if (pair.torn) this.reset(pair);
    this.dropped.request = this.dropped.reply = this.refusing = this.deaf = false;
    this.judge = undefined;
    this.delays.request = this.delays.reply = 0;
    return this;
  }

  /** Discards what goes in that direction; connections stay open. */
  drop(direction: ProxyDirection): this {
    this.dropped[direction] = true;
    return this;
  }

  /** Holds back what goes in that direction for `ms`; both directions when none is named. */
  delay(ms: number, direction?: ProxyDirection): this {
    if (direction !== 'reply') this.delays.request = ms;
    if (direction !== 'request') this.delays.reply = ms;
    return this;
  }

  /** Resets all open connections; new ones are served. */
  cut(): this {
    for (const pair of this.pairs) this.reset(pair);
    return this;
  }

  /** Decides about each command that a client of Redis sends. What is answered with an error never happens. */
  commands(judge: (command: readonly string[]) => CommandFate): this {
    this.judge = judge;
    return this;
  }

  /** From now on connections that are open or new stay open, and nothing is forwarded on them, not even after `pass()`. */
  halfOpen(): this {
    this.deaf = true;
    for (const pair of this.pairs) {
      pair.dead = true;
      pair.client.removeAllListeners('data').resume();
      pair.server?.destroy();
    }
    return this;
  }

  /** Resets each new connection at once; open ones stay. */
  refuse(): this {
    this.refusing = true;
    return this;
  }

  /** Cuts everything and ends. Safe to repeat. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.cut();
    await closed;
  }

  private accept(client: Socket): void {
    client.on('error', () => undefined);
    if (this.refusing) {
      this.refused += 1;
      client.resetAndDestroy();
      return;
    }
    this.connections += 1;
    client.setNoDelay(true);
    const server = this.deaf ? undefined : connect({ host: this.target.host ?? '127.0.0.1', port: this.target.port, noDelay: true });
    const pair: Pair = { client, server, dead: this.deaf, torn: false };
    this.pairs.add(pair);
    client.on('close', () => {
      this.pairs.delete(pair);
      server?.destroy();
    });
    if (server === undefined) {
      client.resume();
      return;
    }
    server.on('error', () => undefined);
    server.on('close', () => {
      if (!pair.dead) this.reset(pair);
    });
    this.forward('request', pair, client, server, this.target.raw === true ? undefined : this.inspector(pair));
    this.forward('reply', pair, server, client);
  }

  /** Redis itself gives the error, so that it comes in its turn. */
  private inspector(pair: Pair): (chunk: Buffer) => Buffer {
    const reader = new RequestReader();
    return (chunk) =>
      Buffer.concat(
        reader.read(chunk).map(({ command, raw }) => {
          const fate = this.judge?.(command) ?? 'pass';
          if (fate === 'reset') this.reset(pair);
          return typeof fate === 'object' ? encodeCommand(['EVAL', 'return redis.error_reply(ARGV[1])', '0', fate.error]) : raw;
        }),
      );
  }

  private forward(direction: ProxyDirection, pair: Pair, from: Socket, to: Socket, inspect = (chunk: Buffer): Buffer => chunk): void {
    let held = 0;
    let last = Promise.resolve();
    const write = (chunk: Buffer): void => {
      if (!to.destroyed) to.write(chunk);
    };
    from.on('data', (data) => {
      if (this.dropped[direction]) {
        pair.torn = true;
        return;
      }
      const chunk = inspect(data);
      const ms = this.delays[direction];
      // What comes after something that is still held back queues up behind it, so that the order stays.
      if (ms === 0 && held === 0) {
        write(chunk);
        return;
      }
      const due = performance.now() + ms;
      held += 1;
      last = last
        .then(() => sleep(Math.max(0, due - performance.now())))
        .then(() => {
          held -= 1;
          write(chunk);
        });
    });
  }

  private reset({ client, server }: Pair): void {
    server?.destroy();
    if (!client.destroyed) client.resetAndDestroy();
  }
}
