import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Redis } from 'ioredis';
import type { LeaseModuleOptions } from '../../lib/lease-module-options.js';
import { LeaseKeys } from '../../lib/stores/redis/keys.js';
import type { Clock } from '../../lib/time/clock.js';
import { startHolder, type Holder } from './holder.js';
import { RedisServer, type RedisServerOptions } from './redis-server.js';
import { TcpProxy } from './tcp-proxy.js';

export { rejection } from './rejection.js';

let counter = 0;

/**
 * One Redis for the file, with a proxy in front of it, and lease services on both ways: those that are attacked go through
 * the proxy, rivals directly.
 */
export class AttackRig {
  server!: RedisServer;
  proxy!: TcpProxy;
  /** Looks at the server behind everybody's back. */
  client!: Redis;
  private readonly namespace = 'attack';
  private readonly holders = new Set<Holder>();

  constructor(options: RedisServerOptions = {}) {
    beforeAll(async () => {
      this.server = await RedisServer.start(options);
      this.proxy = await TcpProxy.start(this.server);
      this.client = new Redis(this.server.url, { retryStrategy: () => 20 });
      this.client.on('error', () => undefined);
      await this.loadScripts();
    });
    afterEach(async () => {
      this.proxy.pass();
      await Promise.all([...this.holders].map((holder) => holder.close()));
      this.holders.clear();
    });
    afterAll(async () => {
      this.client.disconnect();
      await this.proxy.stop();
      await this.server.stop();
    });
  }

  /** A service whose connection leads through the proxy. */
  attacked(options: LeaseModuleOptions = {}, clock?: Clock): Holder {
    return this.start({ connection: this.proxy.url, ...options }, clock);
  }

  /** A service of somebody else, whose connection is sound. */
  rival(options: LeaseModuleOptions = {}, clock?: Clock): Holder {
    return this.start({ connection: this.server.url, ...options }, clock);
  }

  /** Opens its connection, so that the next call is one round trip. */
  async warm(holder: Holder): Promise<void> {
    await holder.service.inspect('warm-up');
  }

  /** A name that no other test uses. */
  key(): string {
    counter += 1;
    return `key-${String(counter)}`;
  }

  /** Its keys in Redis. */
  leaseKey(key: string): string {
    return new LeaseKeys(this.namespace).of(key)[0];
  }

  fenceKey(key: string): string {
    return new LeaseKeys(this.namespace).of(key)[1];
  }

  /** The secret id of whoever holds it in Redis, or `undefined`. */
  async ownerOf(key: string): Promise<string | undefined> {
    return (await this.client.get(this.leaseKey(key)))?.split(' ')[0];
  }

  /** Milliseconds that the lease key lives; negative without it. */
  pttl(key: string): Promise<number> {
    return this.client.pttl(this.leaseKey(key));
  }

  /** Otherwise the first answer of a test is NOSCRIPT. */
  private async loadScripts(): Promise<void> {
    const holder = this.rival();
    const lease = await holder.service.acquire('warm-up', { ttl: 5 });
    await lease.renew();
    await lease.release();
  }

  private start(options: LeaseModuleOptions, clock?: Clock): Holder {
    const holder = startHolder({ namespace: this.namespace, ...options }, clock);
    this.holders.add(holder);
    return holder;
  }
}

/** Stands still, the event loop with it. */
export function blockLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
