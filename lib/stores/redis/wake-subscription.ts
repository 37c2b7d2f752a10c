import type { StoreSubscription, Wake } from '../lease-store.js';
import { warnOfChannels } from './channels-refused.js';
import { endClient, makeClient } from './client-factory.js';
import type { ConnectionPlan } from './connection-option.js';
import { unescapePart } from './keys.js';
import type { Notices } from './notices.js';
import { isRefused, isReply, kindOf } from './redis-errors.js';
import type { RedisClient } from './redis-client.js';

/**
 * Hand-over notices for one process, on a connection of its own. After each break it subscribes anew and says `again`, since
 * notices were missed. Where the server refuses the channel, waiters live by looking: `ready` resolves all the same.
 */
export class WakeSubscription implements StoreSubscription {
  readonly ready: Promise<void>;
  private readonly client: RedisClient;
  private isLive = false;
  /** Of the connections, how many have broken. */
  private breaks = 0;
  private asking = false;
  private refused = false;
  private closed = false;
  private settleReady: () => void = () => undefined;

  constructor(
    plan: ConnectionPlan,
    private readonly channel: string,
    private readonly listener: (wake: Wake) => void,
    /** Sends a word to the own channel, as those do who offer a lease: to hear whether that is allowed. */
    private readonly publish: () => Promise<unknown>,
    private readonly notices: Notices,
  ) {
    this.ready = new Promise((resolve) => (this.settleReady = resolve));
    this.client = makeClient(plan, { autoResubscribe: false });
    this.client.on('message', (from: string, holderId: string) => {
      if (from === channel && holderId !== '' && !this.closed) listener({ kind: 'offer', holderId: unescapePart(holderId) });
    });
    this.client.on('ready', () => void this.subscribe());
    this.client.on('close', () => this.broken());
    // Without a listener an error would be printed, or end the process; the connection comes back by itself.
    this.client.on('error', () => undefined);
    this.client.connect().catch(() => undefined);
  }

  get live(): boolean {
    return this.isLive;
  }

  /**
   * Subscribes once more, which changes nothing where it is subscribed: a question on that very connection, so that a half-open
   * one is found out. When the last question has had no answer by now, the connection is given up.
   */
  check(): void {
    const { status } = this.client;
    if (this.closed || this.refused || status === 'wait') return;
    if (this.asking) {
      this.broken();
      this.client.disconnect(true);
    } else if (status === 'ready') void this.subscribe();
  }

  unsubscribe(): void {
    this.closed = true;
    this.isLive = false;
    endClient(this.client);
  }

  /** Notices that nobody may send never arrive. What is only disturbed now counts as allowed. */
  private async mayPublish(): Promise<boolean> {
    try {
      await this.publish();
    } catch (error) {
      if (!isRefused(error)) return true;
      this.refused = true;
      this.giveUp('PUBLISH', error);
    }
    return !this.refused;
  }

  private giveUp(command: string, error: unknown): void {
    warnOfChannels(this.notices, this.channel.replace(/[^:]*$/, '*'), command, error);
    this.settleReady();
  }

  private broken(): void {
    this.breaks += 1;
    this.isLive = false;
    this.asking = false;
  }

  private async subscribe(): Promise<void> {
    this.asking = true;
    try {
      await this.client.subscribe(this.channel);
    } catch (error) {
      // What broke with its connection is asked again by the next one; what Redis has refused for now, by the next check.
      if (isReply(error)) this.broken();
      this.refused = kindOf(error) !== 'transient' || isRefused(error);
      if (this.refused) this.giveUp('SUBSCRIBE', error);
      return;
    }
    this.asking = false;
    const { breaks } = this;
    if (!this.isLive && (!(await this.mayPublish()) || breaks !== this.breaks)) return;
    const missed = !this.isLive;
    this.isLive = true;
    if (missed && !this.closed) this.listener({ kind: 'again' });
    this.settleReady();
  }
}
