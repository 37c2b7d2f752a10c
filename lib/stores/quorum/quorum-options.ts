import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import { nearestName } from '../../errors/nearest-name.js';
import type { Clock } from '../../time/clock.js';
import { parseDuration, type Duration } from '../../time/duration.js';
import { SystemClock } from '../../time/system-clock.js';

/** How a quorum is set up. Every process that shares its leases gives the same nodes and the same options. */
export interface QuorumOptions {
  /**
   * How long one node may take for one answer, before the quorum goes on without it; for a lease all answers together take at most
   * ttl / 6. A string with its unit. Well below a third of `commandTimeout`, since a lease takes two answers, or three.
   * Default: `'1s'`.
   */
  readonly nodeTimeout?: string | undefined;
  /**
   * The longest ttl of any lease in the fleet; one that asks for more is refused. For so long after its start a node does not vote,
   * since it may have forgotten a lease that somebody still holds: also after its very first start. Default: `'1m'`.
   */
  readonly longestTtl?: Duration | undefined;
  /**
   * How long nodes remember the last fencing token of an idle key. Until it has been up for so long a node may have forgotten
   * tokens, and its vote counts only when a majority of nodes that remember were asked for theirs; unless so many have forgotten that
   * there is no such majority: then the clocks of the servers keep tokens in order, as with a single Redis. Default: `'24h'`.
   */
  readonly fenceRetention?: Duration | undefined;
  /**
   * `false`: you vouch that a restart of a node loses nothing (`appendonly yes` with `appendfsync always`, always on), or accept
   * what follows when it does. Then nodes are not asked when they started, and `longestTtl` bounds nothing. With the default a node
   * that has these two settings is found out by `CONFIG GET`, and treated so by itself. Default: `true`.
   */
  readonly nodesForget?: boolean | undefined;
  /** Times everything. Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** The options after the check; times in milliseconds. */
export interface ResolvedQuorumOptions {
  readonly nodeTimeoutMs: number;
  readonly longestTtlMs: number;
  readonly fenceRetentionMs: number;
  readonly nodesForget: boolean;
  readonly clock: Clock;
}

const OPTIONS: readonly (keyof QuorumOptions)[] = ['nodeTimeout', 'longestTtl', 'fenceRetention', 'nodesForget', 'clock'];
const DAY_MS = 86_400_000;
/** Fewer cannot lose one and still be a majority. */
const FEWEST_NODES = 3;

/** @throws LeaseOptionsError naming the option, the value and the remedy */
export function resolveQuorumOptions(options: QuorumOptions = {}): ResolvedQuorumOptions {
  for (const option of Object.keys(options)) {
    if ((OPTIONS as readonly string[]).includes(option)) continue;
    const near = nearestName(option, OPTIONS);
    const remedy = near === undefined ? `Known are ${OPTIONS.join(', ')}.` : `Did you mean "${near}"?`;
    throw new LeaseOptionsError(option, `The quorum has no option "${option}". ${remedy}`);
  }
  const { nodeTimeout = '1s', longestTtl = '1m', fenceRetention = '24h', clock = new SystemClock() } = options;
  const nodesForget: unknown = options.nodesForget ?? true;
  if (typeof nodesForget !== 'boolean') {
    throw new LeaseOptionsError('nodesForget', `The option "nodesForget" is ${String(nodesForget)}: it must be true or false.`);
  }
  return {
    nodeTimeoutMs: parseDuration('nodeTimeout', nodeTimeout, { stringOnly: true }),
    longestTtlMs: parseDuration('longestTtl', longestTtl, { maxMs: DAY_MS }),
    fenceRetentionMs: parseDuration('fenceRetention', fenceRetention),
    nodesForget,
    clock,
  };
}

/** A list of nodes that are different and enough. `shown` names one for the message. @throws LeaseOptionsError */
export function checkNodes(nodes: unknown, shown: (node: unknown) => unknown = (node) => node): void {
  if (!Array.isArray(nodes)) throw refuse(`not a list`);
  if (nodes.length < FEWEST_NODES) {
    const count = nodes.length === 1 ? '1 node' : `${String(nodes.length)} nodes`;
    throw refuse(`a list of ${count}`, 'a quorum outlives the loss of a node only with 3 or more; with one Redis use "connection"');
  }
  const seen = new Map<unknown, number>();
  nodes.forEach((node: unknown, i) => {
    const same = seen.get(shown(node));
    if (same !== undefined) {
      const [first, second] = [String(same + 1), String(i + 1)];
      throw refuse(`a list whose nodes ${first} and ${second} are the same`, 'each must be a server of its own, on a machine of its own');
    }
    seen.set(shown(node), i);
  });
}

function refuse(what: string, remedy = 'give three or five servers that know nothing of each other'): LeaseOptionsError {
  return new LeaseOptionsError('nodes', `The nodes of the quorum are ${what}: ${remedy}.`);
}
