import type { StoreSubscription, Wake } from '../lease-store.js';
import { makeClient } from './client-factory.js';
import type { ConnectionPlan } from './connection-option.js';
import { unescapePart } from './keys.js';
import { kindOf } from './redis-errors.js';
import type { RedisClient } from './redis-client.js';

/**
 * Hand-over notices for one process, on a connection of its own. After each break it subscribes anew and says `again`, since
 * notices were missed. Where the server refuses the channel, waiters live by looking: `ready` resolves all the same.
 */
export class WakeSubscription implements StoreSubscription {
  readonly ready: Promise<void>;
  private readonly client: RedisClient;
  private subscribed = false;
  private closed = false;
  private settleReady: () => void = () => undefined;

  constructor(
    plan: ConnectionPlan,
    private readonly channel: string,
    private readonly listener: (wake: Wake) => void,
  ) {
    this.ready = new Promise((resolve) => (this.settleReady = resolve));
    this.client = makeClient(plan, { autoResubscribe: false });
    this.client.on('message', (from: string, holderId: string) => {
      if (from === channel && !this.closed) listener({ kind: 'offer', holderId: unescapePart(holderId) });
    });
    this.client.on('ready', () => void this.subscribe());
    // Without a listener an error would be printed, or end the process; the connection comes back by itself.
    this.client.on('error', () => undefined);
    this.client.connect().catch(() => undefined);
  }

  unsubscribe(): void {
    this.closed = true;
    this.client.disconnect();
  }

  private async subscribe(): Promise<void> {
    try {
      await this.client.subscribe(this.channel);
    } catch (error) {
      if (kindOf(error) !== 'transient') this.settleReady();
      return;
    }
    if (this.subscribed && !this.closed) this.listener({ kind: 'again' });
    this.subscribed = true;
    this.settleReady();
  }
}
