import { StoreError } from '../lease-store.js';
import type { RedisConnection } from './connection.js';
import { messageOf, toStoreError } from './redis-errors.js';
import type { RedisClient } from './redis-client.js';
import type { LeaseScript } from './scripts/lease-script.js';
import { slotOf } from './slots.js';

/** One lease of a script call, and the way back. */
export interface Asked {
  /** As many as the script has for each lease. */
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  /** Of a lease that may be granted: how long it would live. */
  readonly ttlMs?: number;
  /** Takes the reply for this lease; an error that it throws is given to `fail`. */
  settle(reply: unknown, serverTimeMs: number): void;
  fail(error: StoreError): void;
}

/** Leases in one call: enough that the round trip costs next to nothing, few enough that Redis serves others in between. */
export const MOST_IN_CALL = 100;

/** Sends scripts: many leases in one call where they may travel together, each with its own outcome. */
export class ScriptCalls {
  constructor(
    private readonly connection: RedisConnection,
    /** Why nothing may be asked now, if so. */
    private readonly refusal: () => StoreError | undefined = () => undefined,
  ) {}

  /** Whether leases are spread over nodes, so that those of one call must be of one slot. */
  get isCluster(): boolean {
    return this.connection.isCluster;
  }

  /** Sends all, at once and in order; every one of them is settled or failed in the end. */
  send(script: LeaseScript, shared: readonly (string | number)[], asked: readonly Asked[]): void {
    if (asked.length === 1) this.call(script, shared, asked);
    else for (const some of inCalls(asked, this.connection)) this.call(script, shared, some);
  }

  private call(script: LeaseScript, shared: readonly (string | number)[], asked: readonly Asked[]): void {
    const send = (client: RedisClient): Promise<unknown> => {
      const refusal = this.refusal();
      return refusal ? Promise.reject(refusal) : evaluate(client, script, shared, asked);
    };
    this.connection.run(send).then(
      (reply) => settleAll(asked, reply),
      (error: unknown) => failAll(asked, error),
    );
  }
}

/** Built by hand: this runs for every call, also for a single lease. */
async function evaluate(
  client: RedisClient,
  script: LeaseScript,
  shared: readonly (string | number)[],
  asked: readonly Asked[],
): Promise<unknown> {
  const { keys, args } = parametersOf(shared, asked);
  try {
    return await client.evalsha(script.sha, keys, args);
  } catch (error) {
    // Sent again as a whole: a script that Redis did not have has done nothing.
    if (!messageOf(error).includes('NOSCRIPT')) throw error;
    return await client.eval(script.lua, keys, args);
  }
}

/** How a script is called for these leases: how many keys there are, and the keys with the arguments behind them. */
export function parametersOf(
  shared: readonly (string | number)[],
  asked: readonly Asked[],
): { readonly keys: number; readonly args: (string | number)[] } {
  const args: (string | number)[] = [];
  for (const one of asked) args.push(...one.keys);
  const keys = args.length;
  args.push(...shared);
  for (const one of asked) args.push(...one.args);
  return { keys, args };
}

/** Which leases travel in one call: a hundred at most, in a Cluster of one slot. */
export function* inCalls(asked: readonly Asked[], { isCluster, keyPrefix }: RedisConnection): Generator<readonly Asked[]> {
  for (const group of isCluster ? bySlot(asked, keyPrefix) : [asked]) {
    yield* slices(group, MOST_IN_CALL);
  }
}

/** The list in pieces of at most so many. */
export function* slices<T>(list: readonly T[], most: number): Generator<readonly T[]> {
  for (let i = 0; i < list.length; i += most) yield list.slice(i, i + most);
}

/** Gives each lease its part of the reply; `withdraw` says why a part does not count, if so. */
export function settleAll(asked: readonly Asked[], reply: unknown, withdraw?: (part: unknown) => StoreError | undefined): void {
  if (!Array.isArray(reply)) {
    failAll(asked, new StoreError('fatal', `Redis answered something that is not understood: ${JSON.stringify([reply])}`));
    return;
  }
  const serverTimeMs = Number(reply[0]);
  asked.forEach((one, i) => {
    const withdrawn = withdraw?.(reply[i + 1]);
    if (withdrawn) {
      one.fail(withdrawn);
      return;
    }
    try {
      one.settle(reply[i + 1], serverTimeMs);
    } catch (error) {
      one.fail(toStoreError(error));
    }
  });
}

/** Fails them all for the same reason. */
export function failAll(asked: readonly Asked[], error: unknown): void {
  const failure = toStoreError(error);
  for (const one of asked) one.fail(failure);
}

/** In a Cluster one call stays in one slot. */
function bySlot(asked: readonly Asked[], keyPrefix: string): Iterable<Asked[]> {
  const groups = new Map<number, Asked[]>();
  for (const one of asked) {
    const slot = slotOf(keyPrefix + (one.keys[0] ?? ''));
    const group = groups.get(slot);
    if (group) group.push(one);
    else groups.set(slot, [one]);
  }
  return groups.values();
}
