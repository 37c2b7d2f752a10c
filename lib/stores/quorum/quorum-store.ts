import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import type { Clock } from '../../time/clock.js';
import {
  StoreError,
  type AcquireRequest,
  type Attended,
  type AttendRequest,
  type Busy,
  type Granted,
  type LeaseRecord,
  type LeaseStore,
  type LeaveRequest,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type StoreCapabilities,
  type StoreNotice,
  type StoreSubscription,
} from '../lease-store.js';
import { gather } from './gather.js';
import { HolderBook } from './holder-book.js';
import { NodeLink } from './node-link.js';
import { QuorumAcquisition } from './quorum-acquisition.js';
import { checkNodes, resolveQuorumOptions, type QuorumOptions } from './quorum-options.js';
import { ttlRefusal } from './round-outcome.js';
import { majorityOf, type MemoryLimits } from './rules.js';
import { failuresOf, judgeRecord, judgeRenewal, noMajority } from './verdicts.js';

const DAY_MS = 86_400_000;

/**
 * A lease that a majority of independent stores hold. Composed through the port: each node is a `LeaseStore` that can be one
 * (`quorumNode`), such as a `RedisLeaseStore` or, for tests, a `MemoryLeaseStore`.
 *
 * @throws LeaseOptionsError for fewer than three nodes, for one that is given twice, and for stores that cannot be nodes
 */
export class QuorumStore implements LeaseStore {
  readonly capabilities: StoreCapabilities;
  private readonly links: readonly NodeLink[];
  private readonly memoryLimits: MemoryLimits | undefined;
  private readonly book: HolderBook;
  private readonly acquisition: QuorumAcquisition;

  /** `names`: of the nodes, for messages; default: their number. */
  constructor(stores: readonly LeaseStore[], options: QuorumOptions = {}, names: readonly string[] = []) {
    checkNodes(stores);
    const { clock, nodesForget, nodeTimeoutMs, longestTtlMs, fenceRetentionMs } = resolveQuorumOptions(options);
    this.links = stores.map((store, i) => linkTo(store, names[i] ?? `node ${String(i + 1)}`, clock, nodeTimeoutMs));
    this.book = new HolderBook(clock);
    this.memoryLimits = nodesForget ? { longestTtlMs, fenceRetentionMs } : undefined;
    const renew = async (request: RenewRequest): Promise<RenewResult> => (await this.renew([request]))[0] as RenewResult;
    this.acquisition = new QuorumAcquisition({ links: this.links, clock, memoryLimits: this.memoryLimits }, this.book, renew);
    const shared = stores.every(({ capabilities }) => capabilities.shared);
    const byServer = stores.every(({ capabilities }) => capabilities.clock === 'server');
    this.capabilities = { name: 'quorum', shared, clock: byServer ? 'server' : 'process', wakeUp: 'poll', fifo: false };
  }

  acquire(request: AcquireRequest): Promise<Granted | Busy> {
    return this.acquisition.acquire(request);
  }

  /** Never rejects: a lease of which too few nodes have said anything is `unknown`, and so is one that is asked to live for too long. */
  async renew(requests: readonly RenewRequest[]): Promise<RenewResult[]> {
    const refusals = requests.map(({ ttlMs }) => ttlRefusal(ttlMs, this.memoryLimits));
    const renewed = await this.renewAll(requests.filter((_, i) => refusals[i] === undefined));
    let next = 0;
    return refusals.map((error): RenewResult => (error ? { kind: 'unknown', error } : (renewed[next++] as RenewResult)));
  }

  /** Released when a majority held it; nodes that do not answer are told in the background, until the ttl is over. */
  release(request: ReleaseRequest): Promise<ReleaseResult> {
    const sent = this.endAt(request.key, request.holderId, (link, holderId) => link.store.release({ ...request, holderId }));
    return gather(sent, (answers, complete) => {
      const majority = majorityOf(answers.length);
      const released = answers.filter((answer) => answer?.value?.kind === 'released').length;
      const not = answers.filter((answer) => answer?.value?.kind === 'not-held').length;
      if (released >= majority) return { kind: 'released' };
      if (not > answers.length - majority) return { kind: 'not-held' };
      if (!complete) return undefined;
      throw noMajority(answers.length, failuresOf(answers, this.nameOf));
    });
  }

  async leave(request: LeaveRequest): Promise<void> {
    const { key, holderId, holderTag } = request;
    const sent = this.endAt(key, holderId, (link, id) => link.store.leave({ key, holderId: id, holderTag }), holderTag);
    await this.byMajority(sent);
  }

  /** Not called: the quorum keeps no line, and those who wait look again. */
  attend(requests: readonly AttendRequest[]): Promise<(Attended | undefined)[]> {
    return Promise.resolve(requests.map(() => undefined));
  }

  /** Who has a majority. While not all nodes can be asked, also one who may have it. */
  async inspect(key: string): Promise<LeaseRecord | undefined> {
    return this.record(this.links.map((link) => link.within(Infinity, link.store.inspect(key))));
  }

  /** Ends it at all nodes that can be asked, at a majority at least. */
  async forceRelease(key: string): Promise<LeaseRecord | undefined> {
    return this.record(this.links.map((link) => link.within(Infinity, link.store.forceRelease(key))));
  }

  /** Resolves when a majority answers. */
  ping(): Promise<void> {
    return this.byMajority(this.links.map((link) => link.within(Infinity, link.store.ping())));
  }

  onNotice(listener: (notice: StoreNotice) => void): () => void {
    const ends = this.links.map(({ store }) => store.onNotice?.(listener));
    return () => ends.forEach((end) => end?.());
  }

  onWake(): StoreSubscription {
    return { ready: Promise.resolve(), unsubscribe: () => undefined };
  }

  /** Closes the nodes. */
  async close(): Promise<void> {
    for (const { leftovers } of this.links) leftovers.close();
    await Promise.all(this.links.map(({ store }) => store.close()));
  }

  private renewAll(requests: readonly RenewRequest[]): Promise<RenewResult[]> {
    if (requests.length === 0) return Promise.resolve([]);
    const asked = requests.map((request) => {
      const page = this.book.find(request.key, request.holderId);
      if (page) this.book.touch(page, request.ttlMs);
      return { ...request, holderId: this.book.idOf(request.key, request.holderId) };
    });
    const limitMs = Math.max(50, ...requests.map(({ ttlMs }) => ttlMs / 6));
    return gather(
      this.links.map((link) => link.within(limitMs, link.node.renew(asked))),
      (answers, complete) => {
        const results = requests.map((_, i) => {
          const ofOne = answers.map((answer) => {
            const value = answer?.value?.[i];
            return value ? { value } : answer && { error: answer.error ?? MISSING };
          });
          return judgeRenewal(ofOne, complete, this.nameOf);
        });
        return results.includes(undefined) ? undefined : (results as RenewResult[]);
      },
    );
  }

  /** Ends what a holder may have at each node; one that does not confirm it is told again in the background. */
  private endAt<T>(key: string, holderId: string, send: (link: NodeLink, holderId: string) => Promise<T>, holderTag = ''): Promise<T>[] {
    const page = this.book.find(key, holderId);
    if (page) {
      page.ends += 1;
      page.won = undefined;
      page.round?.end();
    }
    const id = this.book.idOf(key, holderId);
    const leftover = { key, holderId: id, holderTag, ttlMs: page?.ttlMs ?? DAY_MS };
    const sent = this.links.map((link) =>
      link.within(Infinity, send(link, id)).catch((error: unknown) => {
        link.leftovers.add(leftover);
        throw error;
      }),
    );
    void Promise.allSettled(sent).then(() => this.book.tidy(key, holderId));
    return sent;
  }

  private async record(asked: readonly Promise<LeaseRecord | undefined>[]): Promise<LeaseRecord | undefined> {
    return (await gather(asked, (answers, complete) => judgeRecord(answers, complete, this.nameOf))) ?? undefined;
  }

  private async byMajority(calls: readonly Promise<unknown>[]): Promise<void> {
    await gather(calls, (answers, complete) => {
      if (answers.filter((answer) => answer && !answer.error).length >= majorityOf(answers.length)) return true;
      if (complete) throw noMajority(answers.length, failuresOf(answers, this.nameOf));
      return undefined;
    });
  }

  private readonly nameOf = (i: number): string => this.links[i]?.name ?? '';
}

const MISSING = new StoreError('transient', 'it left a renewal without an answer');

function linkTo(store: LeaseStore, name: string, clock: Clock, timeoutMs: number): NodeLink {
  const { quorumNode, capabilities } = store;
  if (quorumNode) return new NodeLink(store, quorumNode, name, clock, timeoutMs);
  throw new LeaseOptionsError(
    'nodes',
    `The nodes of the quorum have a store "${capabilities.name}" (${name}), which cannot be one: give stores with "quorumNode", such as RedisLeaseStore.`,
  );
}
