import type {
  ConfirmRequest,
  ConfirmResult,
  NodeRenewRequest,
  NodeRenewResult,
  QuorumNode,
  Recalled,
  RecallRequest,
} from '../quorum-node.js';
import { StoreError, type RenewRequest, type RenewResult } from '../lease-store.js';
import type { HeldLease } from './held-lease.js';

/** What a quorum asks of the leases around it. */
export interface QuorumLeases {
  now(): number;
  held(key: string, now: number): HeldLease | undefined;
  put(key: string, lease: HeldLease, now: number): void;
  /** The highest token given so far. */
  lastToken(key: string, now: number): number;
  /** Raises the fence to `token`, unless no clock can have made it. */
  raise(key: string, lease: HeldLease, token: number, now: number): void;
  renew(request: RenewRequest): RenewResult;
  /** Names this store. */
  readonly run: string;
}

/** What a node answers to a holder that asks for a token of the quorum; `undefined`: it may have it. */
export function refuseToken(
  lease: { readonly holderId: string; readonly fencingToken: number } | undefined,
  asked: { readonly holderId: string; readonly fencingToken: number },
): Exclude<ConfirmResult, { kind: 'confirmed' }> | undefined {
  if (lease === undefined) return { kind: 'gone' };
  if (lease.holderId !== asked.holderId) return { kind: 'taken' };
  if (lease.fencingToken > asked.fencingToken) return { kind: 'ahead', fencingToken: lease.fencingToken };
  return undefined;
}

/** A node of a quorum in the memory of this process, with the rules of the Redis store. It lives as long as the process, so it forgets nothing. */
export class MemoryQuorumNode implements QuorumNode {
  constructor(private readonly leases: QuorumLeases) {}

  async confirm(request: ConfirmRequest): Promise<ConfirmResult> {
    const { key, fencingToken } = request;
    const refused = this.record(request);
    const raised = this.leases.lastToken(key, this.leases.now()) >= fencingToken;
    await Promise.resolve();
    if (refused) return refused;
    if (raised) return { kind: 'confirmed', memory: this.memory() };
    throw new StoreError('floor', `The token ${String(fencingToken)} of "${key}" lies more than a day ahead of the clock of a node.`);
  }

  async renew(requests: readonly NodeRenewRequest[]): Promise<NodeRenewResult[]> {
    const results = requests.map((request): NodeRenewResult => {
      const refused = this.record(request);
      return refused?.kind === 'ahead' ? refused : this.leases.renew(request);
    });
    await Promise.resolve();
    return results;
  }

  async recall({ key }: RecallRequest): Promise<Recalled> {
    const fence = this.leases.lastToken(key, this.leases.now());
    await Promise.resolve();
    return { fence, memory: this.memory() };
  }

  /** In one step, at the call: the lease is known by the token from now on. */
  private record(request: { key: string; holderId: string; fencingToken: number }): ReturnType<typeof refuseToken> {
    const { leases } = this;
    const { key, fencingToken } = request;
    const now = leases.now();
    const found = leases.held(key, now);
    const lease = found?.state === 'held' ? found : found && { ...found, holderId: '' };
    const refused = refuseToken(lease, request);
    if (refused || lease === undefined) return refused;
    leases.raise(key, lease, fencingToken, now);
    if (leases.lastToken(key, now) >= fencingToken) leases.put(key, { ...lease, fencingToken }, now);
    return undefined;
  }

  private memory(): { run: string; rememberedMs: number } {
    return { run: this.leases.run, rememberedMs: Infinity };
  }
}
