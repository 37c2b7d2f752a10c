import type { Clock } from '../../time/clock.js';
import { StoreError } from '../lease-store.js';
import type { Amnesia } from './amnesia.js';
import type { RedisConnection } from './connection.js';
import { GrantLane, type GrantCall, type GrantOutcome } from './grant-lane.js';
import { isMoving, refreshRoutes, routeOf, type Route } from './cluster-routes.js';
import type { Greeter } from './greeter.js';
import type { RedisClient } from './redis-client.js';
import type { RedisDurability } from './redis-store-options.js';
import { failAll, inCalls, settleAll, type Asked } from './script-calls.js';
import type { LeaseScript } from './scripts/lease-script.js';

/** What sends scripts that may grant leases. */
export interface GrantPath {
  /** Sends all; every one of them is settled or failed in the end. */
  send(script: LeaseScript, shared: readonly (string | number)[], asked: readonly Asked[]): void;
}

export interface GrantCallsOptions {
  readonly connection: RedisConnection;
  readonly greeter: Greeter;
  readonly amnesia: Amnesia;
  readonly clock: Clock;
  /** How long a call may look for the node of a Cluster that serves it. */
  readonly patienceMs: number;
  readonly durability: Required<RedisDurability> | undefined;
}

/** The connection has gone before it was sent. */
class NotReady extends StoreError {}

/** Between two looks for the node that serves a slot. */
const LOOK_AGAIN_MS = 100;

/**
 * Grants that count only when replicas have them, or that in a Cluster depend on which node gives them: each is sent to a server
 * that is known, on a connection that was greeted.
 */
export class GrantCalls implements GrantPath {
  private readonly lanes = new WeakMap<RedisClient, GrantLane>();
  private readonly known = new Set<GrantLane>();

  constructor(private readonly options: GrantCallsOptions) {}

  send(script: LeaseScript, shared: readonly (string | number)[], asked: readonly Asked[]): void {
    const { connection } = this.options;
    for (const some of inCalls(asked, connection)) {
      this.call({ script, shared, asked: some }).then(
        ({ reply, shortfall }) => settleAll(some, reply, (part) => (isGrant(part) ? shortfall : undefined)),
        (error: unknown) => failAll(some, error),
      );
    }
  }

  /** Replicas are waited for: see {@link GrantLane.isPatient}. */
  get isPatient(): boolean {
    for (const lane of this.known) if (lane.isPatient) return true;
    return false;
  }

  /** For the start-up: rejects where grants could never be had. */
  async check(): Promise<void> {
    const { connection } = this.options;
    await connection.run((client) => (client.isCluster ? client.ping() : this.checkNode(client)));
  }

  private checkNode(node: RedisClient): Promise<void> {
    const refused = this.refusesWait(node);
    return refused ? Promise.reject(refused) : Promise.resolve();
  }

  /** What has waited for its turn while the connection broke waits for the next one. */
  private async call(call: GrantCall): Promise<GrantOutcome> {
    const { clock, patienceMs, connection } = this.options;
    const until = clock.monotonic() + patienceMs;
    for (;;) {
      try {
        return await connection.run((client) => this.find(client, call));
      } catch (error) {
        if (!(error instanceof NotReady) || clock.monotonic() >= until) throw error;
      }
    }
  }

  /** Sends it to the server that serves its slot, which in a Cluster may be another one than a moment ago. */
  private async find(client: RedisClient, call: GrantCall): Promise<GrantOutcome> {
    const { clock, patienceMs, connection } = this.options;
    const until = clock.monotonic() + patienceMs;
    const key = connection.keyPrefix + (call.asked[0]?.keys[0] ?? '');
    for (;;) {
      try {
        const route = routeOf(client, key);
        if (route) return await this.sendTo(route, call);
      } catch (error) {
        if (!client.isCluster || !isMoving(error) || clock.monotonic() >= until) throw error;
      }
      if (clock.monotonic() >= until) throw new StoreError('transient', 'no node of the Redis Cluster serves this key', { notSent: true });
      await new Promise<void>((resolve) => void clock.setTimer(resolve, LOOK_AGAIN_MS));
      await refreshRoutes(client);
    }
  }

  private async sendTo({ node, address }: Route, call: GrantCall): Promise<GrantOutcome> {
    await this.options.greeter.greet(node, address);
    return this.laneOf({ node, address }).send(call);
  }

  private laneOf({ node, address }: Route): GrantLane {
    const known = this.lanes.get(node);
    if (known) return known;
    const { durability, connection, amnesia, greeter, clock } = this.options;
    // The nodes of a Cluster do not have it from their client.
    const prefix = node.options.keyPrefix ? '' : connection.keyPrefix;
    const history = {
      known: () => (amnesia.isGuarded ? greeter.historyOf(node) : undefined),
      changed: () => greeter.forget(node),
    };
    const lane = new GrantLane(clock, node, durability, prefix, history, () => this.refusal({ node, address }));
    this.lanes.set(node, lane);
    this.known.add(lane);
    // That of a Cluster's node that is gone for good.
    node.on('end', () => this.known.delete(lane));
    return lane;
  }

  private refusal({ node, address }: Route): StoreError | undefined {
    // It has waited for the pipeline before it: what was greeted may be gone since.
    if (node.status !== 'ready') return new NotReady('transient', 'the connection to Redis is not ready', { notSent: true });
    return this.refusesWait(node) ?? this.options.amnesia.refusal(address);
  }

  private refusesWait(node: RedisClient): StoreError | undefined {
    const { durability, greeter } = this.options;
    const said = durability && greeter.refusesWait(node);
    if (said === undefined) return undefined;
    const message = `Redis refuses WAIT (${said}), which "durability" needs: allow the command to this user, or leave the option out`;
    return new StoreError('fatal', message, { notSent: true });
  }
}

/** A token, or the grant of an instant. */
function isGrant(part: unknown): boolean {
  if (typeof part === 'number') return part > 0;
  return Array.isArray(part) && part[0] === 'granted';
}
