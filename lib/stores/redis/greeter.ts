import type { Clock } from '../../time/clock.js';
import type { Amnesia } from './amnesia.js';
import type { Notices } from './notices.js';
import type { RedisClient } from './redis-client.js';
import { isRefused, messageOf } from './redis-errors.js';
import { readServerInfo, readSettings, type ServerInfo } from './server-info.js';

/** How often a server that still reads its data from disk is asked whether it has finished. */
const LOADING_MS = 100;

/** What every new connection is asked first of all: who the server is, and whether it can do what is needed. */
export class Greeter {
  private readonly greetings = new WeakMap<RedisClient, Promise<void>>();
  private readonly refusals = new WeakMap<RedisClient, string>();
  private readonly seen = new WeakMap<RedisClient, ServerInfo>();
  private readonly watched = new WeakSet<RedisClient>();

  constructor(
    private readonly clock: Clock,
    private readonly notices: Notices,
    private readonly amnesia: Amnesia,
    /** Whether WAIT is needed. */
    private readonly durable: boolean,
  ) {}

  /** Greets a node of a Cluster on each of its connections. */
  watch(node: RedisClient): void {
    node.on('ready', () => void this.greet(node, addressOf(node)).catch(() => undefined));
  }

  /**
   * Asks once for each connection; `address` is what stays the same when another server takes over.
   * Rejects where the connection breaks, or Redis wants a password.
   */
  greet(client: RedisClient, address = ''): Promise<void> {
    const begun = this.greetings.get(client);
    if (begun) return begun;
    if (!this.watched.has(client)) {
      this.watched.add(client);
      client.on('close', () => {
        this.greetings.delete(client);
        this.amnesia.left(address);
      });
    }
    const greeting = this.ask(client, address);
    this.greetings.set(client, greeting);
    greeting.catch(() => {
      if (this.greetings.get(client) === greeting) this.greetings.delete(client);
    });
    return greeting;
  }

  /** The history that the server followed when it was greeted. */
  historyOf(client: RedisClient): string | undefined {
    return this.seen.get(client)?.replicationId;
  }

  /** Something has changed at the other end of a connection that did not break: it is to be greeted again. */
  forget(client: RedisClient): void {
    this.greetings.delete(client);
  }

  /** Greets again those of these primaries that were replicas before: a promotion breaks no connection. */
  review(primaries: readonly RedisClient[]): void {
    for (const node of primaries) {
      if (this.seen.get(node)?.isPrimary !== false) continue;
      this.forget(node);
      this.greet(node, addressOf(node)).catch(() => undefined);
    }
  }

  /** Why WAIT cannot be had on this connection, in the words of Redis. */
  refusesWait(client: RedisClient): string | undefined {
    return this.refusals.get(client);
  }

  private async ask(client: RedisClient, address: string): Promise<void> {
    if (this.durable) await this.askForWait(client);
    let info: ServerInfo | undefined;
    try {
      info = readServerInfo(await client.info());
      while (info?.isLoading) {
        await new Promise<void>((resolve) => void this.clock.setTimer(resolve, LOADING_MS));
        info = readServerInfo(await client.info());
      }
    } catch (error) {
      if (!isRefused(error)) throw error;
      this.blind(`Redis refuses INFO (${messageOf(error)})`);
      return;
    }
    if (info === undefined) {
      this.blind('Redis does not say in INFO which server it is');
      return;
    }
    this.seen.set(client, info);
    this.amnesia.saw(address, addressOf(client), info);
    if (info.isPrimary) void this.checkEviction(client, info.evictionPolicy).catch(() => undefined);
  }

  private async askForWait(client: RedisClient): Promise<void> {
    this.refusals.delete(client);
    try {
      await client.wait(0, 1);
    } catch (error) {
      if (!isRefused(error)) throw error;
      this.refusals.set(client, messageOf(error));
    }
  }

  private blind(why: string): void {
    this.amnesia.cannotSee(why);
    this.notices.warn('info', `${why}: restarts and failovers are not noticed here, and the eviction policy is not checked.`);
  }

  /** An evicted lease ends under its holder's feet, and an evicted fence forgets its token. */
  private async checkEviction(client: RedisClient, told: string | undefined): Promise<void> {
    let policy: unknown = told;
    try {
      policy ??= readSettings(await client.config('GET', 'maxmemory-policy')).get('maxmemory-policy');
    } catch (error) {
      if (!isRefused(error)) return;
      const message = `Redis refuses CONFIG (${messageOf(error)}): whether its maxmemory-policy is noeviction, as leases need it, is not checked.`;
      this.notices.warn('config', message);
    }
    if (typeof policy !== 'string' || policy === 'noeviction') return;
    this.notices.warn(
      'eviction',
      `Redis at ${addressOf(client)} has maxmemory-policy ${policy}: with its memory full it drops leases that are held, and the fencing tokens it ` +
        'has given. Set it to noeviction, or give leases a Redis of their own.',
    );
  }
}

/** Where a client is connected to, for messages and, of a node of a Cluster, as its name. */
export function addressOf({ options, stream }: RedisClient): string {
  if (options.sentinels && stream?.remoteAddress) return `${stream.remoteAddress}:${String(stream.remotePort)}`;
  return options.path ?? `${options.host ?? '127.0.0.1'}:${String(options.port ?? 6379)}`;
}
