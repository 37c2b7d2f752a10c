import type { Clock, ClockTimer } from '../../time/clock.js';
import type { StoreSubscription, Wake } from '../lease-store.js';
import { warnOfChannels } from './channels-refused.js';
import { makeNodeClient } from './client-factory.js';
import type { RedisConnection } from './connection.js';
import { nodeAt, refreshRoutes } from './cluster-routes.js';
import { escapePart, unescapePart, type LeaseKeys } from './keys.js';
import type { Notices } from './notices.js';
import type { RedisClient } from './redis-client.js';
import { isRefused } from './redis-errors.js';
import { ShardListener, type ShardChannel, type ShardHost } from './shard-listener.js';
import { slotOf } from './slots.js';

/** A channel is kept for so long after its last waiter, since the next one is likely to come soon. */
const LINGER_MS = 2000;

/** A lease that somebody of this process waits for, or did a moment ago. */
interface Followed extends ShardChannel {
  readonly slot: number;
  /** The node where it is heard. */
  listener: ShardListener | undefined;
  lingering: ClockTimer | undefined;
  /** Who waits until notices arrive. */
  readonly waiting: (() => void)[];
}

/** What a subscription needs of its store. */
export interface ShardedParts {
  readonly connection: RedisConnection;
  readonly keys: LeaseKeys;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly process: string;
  readonly listener: (wake: Wake) => void;
}

/**
 * Hand-over notices in a Cluster: a channel for each lease that this process waits for, in the slot of the lease, so that a notice
 * stays on one node (an ordinary one goes to all nodes, and costs each of them). One connection for each node that has such a lease.
 * When slots move, or nodes change, the channels go after them; what was missed meanwhile is asked for (`again`).
 */
export class ShardedSubscription implements StoreSubscription, ShardHost {
  readonly ready = Promise.resolve();
  sharded = true;
  private readonly followed = new Map<string, Followed>();
  private readonly listeners = new Map<string, ShardListener>();
  private isRefused = false;
  private tried = false;
  private refreshing = false;
  private closed = false;

  constructor(private readonly parts: ShardedParts) {}

  get live(): boolean {
    if (this.isRefused) return false;
    for (const { live, lingering } of this.followed.values()) if (!live && lingering === undefined) return false;
    return true;
  }

  follow(key: string): Promise<void> {
    if (this.closed || this.isRefused) return Promise.resolve();
    const followed = this.followed.get(key) ?? this.begin(key);
    followed.lingering?.cancel();
    followed.lingering = undefined;
    if (followed.live) return Promise.resolve();
    return new Promise((resolve) => followed.waiting.push(resolve));
  }

  unfollow(key: string): void {
    const followed = this.followed.get(key);
    if (followed === undefined || followed.lingering !== undefined) return;
    followed.lingering = this.parts.clock.setTimer(() => {
      this.followed.delete(key);
      followed.listener?.remove(followed);
      this.settle(followed);
    }, LINGER_MS);
  }

  check(): void {
    if (this.isRefused) return;
    for (const listener of this.listeners.values()) listener.check();
  }

  /** Looks whether each channel is still heard where its lease lives. Cheap: the client of the store learns of moves by its calls. */
  review(): void {
    if (this.closed || this.isRefused || this.followed.size === 0) return;
    this.ask((client) => {
      for (const followed of this.followed.values()) this.place(followed, client);
      for (const [address, listener] of this.listeners) {
        if (!listener.idle || nodeAt(client, address)) continue;
        listener.close();
        this.listeners.delete(address);
      }
    });
  }

  unsubscribe(): void {
    this.closed = true;
    for (const { lingering, waiting } of this.followed.values()) {
      lingering?.cancel();
      for (const resolve of waiting) resolve();
    }
    for (const listener of this.listeners.values()) listener.close();
    this.followed.clear();
    this.listeners.clear();
  }

  told(_channel: ShardChannel, holderId: string): void {
    this.parts.listener({ kind: 'offer', holderId: unescapePart(holderId) });
  }

  heard(channel: ShardChannel): void {
    this.settle(channel as Followed);
    this.parts.listener({ kind: 'again', key: channel.key });
  }

  /** Asks the Cluster anew who has which slot, and goes there. */
  moved(): void {
    if (this.refreshing || this.closed) return;
    this.refreshing = true;
    this.ask((client) => {
      void refreshRoutes(client).then(() => {
        this.refreshing = false;
        this.review();
      });
    });
  }

  refused(command: string, error: unknown): void {
    if (command === 'SSUBSCRIBE' || command === 'SPUBLISH') {
      if (!this.sharded) return;
      this.sharded = false;
      for (const listener of this.listeners.values()) listener.subscribeAll();
      return;
    }
    if (this.isRefused) return;
    this.isRefused = true;
    for (const followed of this.followed.values()) this.settle(followed);
    warnOfChannels(this.parts.notices, `${this.parts.keys.namespace}:*`, command, error);
  }

  private begin(key: string): Followed {
    const name = `${this.parts.connection.keyPrefix}${this.parts.keys.wakeChannelOf(key)}${escapePart(this.parts.process)}`;
    const followed: Followed = { key, name, slot: slotOf(name), live: false, listener: undefined, lingering: undefined, waiting: [] };
    this.followed.set(key, followed);
    this.ask((client) => {
      this.place(followed, client);
      if (!this.tried) this.tryOut(client, key);
    });
    return followed;
  }

  /** Notices that nobody may send never arrive. What is only disturbed now counts as allowed. */
  private tryOut(client: RedisClient, key: string): void {
    this.tried = true;
    const channel = this.parts.keys.wakeChannelOf(key);
    const failed = (command: string) => (error: unknown) => {
      if (isRefused(error)) this.refused(command, error);
      return isRefused(error);
    };
    void client
      .spublish(channel, '')
      .then(() => false, failed('SPUBLISH'))
      .then((old) => (old ? client.publish(channel, '').catch(failed('PUBLISH')) : undefined));
  }

  private settle(followed: Followed): void {
    for (const resolve of followed.waiting.splice(0)) resolve();
  }

  private place(followed: Followed, client: RedisClient): void {
    if (this.closed || this.followed.get(followed.key) !== followed) return;
    const address = client.slots?.[followed.slot]?.[0];
    const listener = address === undefined ? undefined : (this.listeners.get(address) ?? this.open(address, client));
    if (listener === followed.listener) return;
    followed.listener?.remove(followed);
    followed.listener = listener;
    listener?.add(followed);
  }

  private open(address: string, client: RedisClient): ShardListener | undefined {
    const node = nodeAt(client, address);
    if (node === undefined) return undefined;
    const listener = new ShardListener(makeNodeClient(node), this);
    this.listeners.set(address, listener);
    return listener;
  }

  private ask(act: (client: RedisClient) => void): void {
    this.parts.connection
      .run((client) => {
        act(client);
        return Promise.resolve();
      })
      .catch(() => {
        // Without a connection there is nothing to hear; the next word of the process (`attend`) looks again.
        this.refreshing = false;
      });
  }
}
