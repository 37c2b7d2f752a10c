import { endClient } from './client-factory.js';
import type { RedisClient } from './redis-client.js';
import { isRefused, messageOf } from './redis-errors.js';

/** Notices of one lease for this process. */
export interface ShardChannel {
  /** The key of the lease. */
  readonly key: string;
  /** As Redis knows it. */
  readonly name: string;
  /** Whether notices arrive. */
  live: boolean;
}

/** What a listener tells the subscription that it belongs to. */
export interface ShardHost {
  /** `SSUBSCRIBE`, or `SUBSCRIBE` where the servers are older than Redis 7. */
  readonly sharded: boolean;
  told(channel: ShardChannel, holderId: string): void;
  /** Notices arrive from now on; some may have been missed. */
  heard(channel: ShardChannel): void;
  /** The node does not serve all of its channels any more. */
  moved(): void;
  refused(command: string, error: unknown): void;
}

/** Channels of the leases that one node of a Cluster serves, on a connection of its own. */
export class ShardListener {
  private readonly channels = new Map<string, ShardChannel>();
  /** Asked, and not answered yet. */
  private asking = 0;
  private closed = false;

  constructor(
    private readonly client: RedisClient,
    private readonly host: ShardHost,
  ) {
    const told = (name: string, holderId: string): void => {
      const channel = this.channels.get(name);
      if (channel && holderId !== '') host.told(channel, holderId);
    };
    client.on('smessage', told);
    client.on('message', told);
    client.on('ready', () => this.subscribeAll());
    client.on('close', () => this.broken());
    // Both ioredis: this node has no such slot, or no longer. What was asked before may never be answered.
    client.on('moved', () => this.restart());
    client.on('error', (error: unknown) => {
      // ioredis 5 takes the word that a slot has left for the answer to a command that it did not send.
      if (messageOf(error).includes('sunsubscribe')) this.restart();
    });
    client.connect().catch(() => undefined);
  }

  get idle(): boolean {
    return this.channels.size === 0;
  }

  add(channel: ShardChannel): void {
    this.channels.set(channel.name, channel);
    if (this.client.status === 'ready') void this.subscribe(channel);
  }

  remove(channel: ShardChannel): void {
    channel.live = false;
    if (!this.channels.delete(channel.name) || this.client.status !== 'ready') return;
    const { client } = this;
    (this.host.sharded ? client.sunsubscribe(channel.name) : client.unsubscribe(channel.name)).catch(() => undefined);
  }

  /** Subscribes again to one of them, which changes nothing: a question on that very connection. When the last had no answer it is given up. */
  check(): void {
    const [first] = this.channels.values();
    if (first === undefined) return;
    if (this.asking > 0) this.restart();
    else if (this.client.status === 'ready') void this.subscribe(first);
  }

  /** After the servers turned out to know no sharded channels. */
  subscribeAll(): void {
    for (const channel of this.channels.values()) void this.subscribe(channel);
  }

  close(): void {
    this.closed = true;
    this.broken();
    endClient(this.client);
  }

  private restart(): void {
    if (this.closed) return;
    this.broken();
    this.client.disconnect(true);
    this.host.moved();
  }

  private broken(): void {
    this.asking = 0;
    for (const channel of this.channels.values()) channel.live = false;
  }

  private async subscribe(channel: ShardChannel): Promise<void> {
    const { client, host } = this;
    const { sharded } = host;
    this.asking += 1;
    try {
      await (sharded ? client.ssubscribe(channel.name) : client.subscribe(channel.name));
    } catch (error) {
      this.answered();
      if (isRefused(error)) host.refused(sharded ? 'SSUBSCRIBE' : 'SUBSCRIBE', error);
      else if (messageOf(error).startsWith('MOVED')) this.restart();
      return;
    }
    this.answered();
    if (channel.live || this.channels.get(channel.name) !== channel) return;
    channel.live = true;
    host.heard(channel);
  }

  private answered(): void {
    this.asking = Math.max(0, this.asking - 1);
  }
}
