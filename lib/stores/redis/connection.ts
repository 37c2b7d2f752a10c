import type { Clock, ClockTimer } from '../../time/clock.js';
import { StoreError } from '../lease-store.js';
import { endClient, makeClient } from './client-factory.js';
import type { ConnectionPlan } from './connection-option.js';
import type { Greeter } from './greeter.js';
import { isOneOfMany, isReply, kindOf, messageOf, oneOfManyError, toStoreError } from './redis-errors.js';
import type { RedisClient } from './redis-client.js';

/** A call that waits for a connection. */
interface Waiting {
  send(client: RedisClient): void;
  fail(error: StoreError): void;
  readonly timer: ClockTimer;
}

/** Calls given up in a row, without any answer in between, after which the socket counts as half open. */
const SILENCE = 2;

/**
 * The one connection of a store. It is opened by the first call. While there is none (not yet, or not again) calls wait for
 * it in the order in which they came, and are rejected as transient when it does not come within `patienceMs`, or at once
 * when Redis refuses us (wrong password); what is in flight when a connection breaks is rejected at once too. So every call
 * settles, and none is sent long after its caller has gone. Each new connection is greeted before anything else is sent.
 */
export class RedisConnection {
  private client: RedisClient | undefined;
  private readonly waiting = new Set<Waiting>();
  private lastError: unknown;
  private silent = 0;
  private inFlight = 0;
  /** Of a Cluster it is the nodes that are greeted, each by itself. */
  private greeted = false;
  private closed = false;

  constructor(
    private readonly plan: ConnectionPlan,
    private readonly clock: Clock,
    private readonly patienceMs: number,
    private readonly greeter: Greeter,
  ) {}

  /** Whether keys are spread over nodes, so that one call must stay in one slot. Opens nothing. */
  get isCluster(): boolean {
    return this.made().isCluster === true;
  }

  /** What the client puts in front of each key. Opens nothing. */
  get keyPrefix(): string {
    return this.made().options.keyPrefix ?? '';
  }

  /** Runs `send` with the client as soon as there is a connection. */
  run<T>(send: (client: RedisClient) => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(closedError());
    const client = this.open();
    if (client.status === 'ready' && this.greeted && this.waiting.size === 0) return this.listen(send(client));
    if (client.status === 'ready' && !this.greeted) this.greet(client);
    return new Promise<T>((resolve, reject) => {
      const entry: Waiting = {
        send: (ready) => void this.listen(send(ready)).then(resolve, reject),
        fail: reject,
        timer: this.clock.setTimer(() => this.giveUp(entry), this.patienceMs),
      };
      this.waiting.add(entry);
    });
  }

  /** Whether it owes somebody an answer, or is not open yet. */
  get isBusy(): boolean {
    return !this.greeted || this.inFlight > 0 || this.waiting.size > 0;
  }

  /** A call was given up by its caller: twice in a row means that the socket is dead, though nobody has told us. */
  unanswered(): void {
    this.silent += 1;
    if (this.silent < SILENCE) return;
    this.silent = 0;
    // Also while it is being greeted ("connect"): ioredis has no time limit for that.
    if (this.client?.status === 'ready' || this.client?.status === 'connect') this.client.disconnect(true);
  }

  /** Closes what we opened. Safe to repeat. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.failWaiting(closedError());
    if (this.client) endClient(this.client);
  }

  private open(): RedisClient {
    const client = this.made();
    // Otherwise it is connected, or on its way by itself.
    if (client.status === 'wait' || client.status === 'end') client.connect().catch(() => undefined);
    return client;
  }

  private made(): RedisClient {
    if (this.client) return this.client;
    const client = (this.client = makeClient(this.plan));
    client.on('ready', () => this.greet(client));
    client.on('close', () => {
      this.greeted = false;
    });
    if (client.isCluster) this.watch(client);
    // Without a listener an error would be printed, or end the process.
    client.on('error', (error: unknown) => this.failed(error));
    client.on('end', () => this.failWaiting(this.unreachable()));
    return client;
  }

  private watch(cluster: RedisClient): void {
    cluster.on('+node', (node: RedisClient) => this.greeter.watch(node));
    cluster.on('refresh', () => this.greeter.review(cluster.nodes?.('master') ?? []));
  }

  private async listen<T>(call: Promise<T>): Promise<T> {
    this.inFlight += 1;
    try {
      const answer = await call;
      this.silent = 0;
      return answer;
    } catch (error) {
      if (isReply(error)) this.silent = 0;
      throw isOneOfMany(error) && !this.isCluster ? oneOfManyError(error) : error;
    } finally {
      this.inFlight -= 1;
    }
  }

  private greet(client: RedisClient): void {
    const greeting = client.isCluster ? Promise.resolve() : this.greeter.greet(client);
    const greeted = (): void => {
      if (client.status !== 'ready') return;
      this.greeted = true;
      this.ready();
    };
    greeting.then(greeted, (error: unknown) => this.failed(error));
  }

  private ready(): void {
    this.lastError = undefined;
    const client = this.client;
    for (const entry of this.waiting) {
      if (client?.status !== 'ready') return;
      this.forget(entry);
      entry.send(client);
    }
  }

  private failed(error: unknown): void {
    this.lastError = error;
    if (kindOf(error) !== 'transient') this.failWaiting(toStoreError(error));
  }

  private giveUp(entry: Waiting): void {
    this.forget(entry);
    entry.fail(this.unreachable());
  }

  private failWaiting(error: StoreError): void {
    for (const entry of this.waiting) {
      this.forget(entry);
      entry.fail(error);
    }
  }

  private forget(entry: Waiting): void {
    this.waiting.delete(entry);
    entry.timer.cancel();
  }

  private unreachable(): StoreError {
    const why = this.lastError === undefined ? 'there is no connection' : messageOf(this.lastError);
    return new StoreError('transient', `Redis cannot be reached: ${why}`, { cause: this.lastError });
  }
}

function closedError(): StoreError {
  return new StoreError('fatal', 'the Redis store is closed');
}
