import type { Clock } from '../../time/clock.js';
import { StoreError, type AcquireRequest, type Busy, type Granted, type Queued } from '../lease-store.js';
import type { ConfirmResult, Recalled } from '../quorum-node.js';
import { toStoreError } from '../to-store-error.js';
import { Ballot } from './ballot.js';
import { decide, needsConfirming, type Circumstances } from './decide.js';
import type { NodeLink } from './node-link.js';
import { Patience } from './patience.js';
import { outcomeOf, sameServer, type NotElected } from './round-outcome.js';
import { countsFor, deadlineOf, experienceOf, majorityOf, type MemoryLimits } from './rules.js';

/** What one round has come to. `endsAt`: by our monotonic clock, when there may be no majority any more that remembers the lease. */
export type RoundOutcome = { readonly kind: 'granted'; readonly fencingToken: number; readonly endsAt: number } | NotElected;

type Reply = Promise<Granted | Busy | Queued>;

/** What a round needs of the quorum around it. */
export interface RoundParts {
  readonly links: readonly NodeLink[];
  readonly clock: Clock;
  /** How long nodes are watched after a start; `undefined` where they are taken to forget nothing. */
  readonly memoryLimits: MemoryLimits | undefined;
}

/**
 * One try to get a majority of the nodes, in two steps: all are asked, and each that grants gives a token of its own; then those
 * that granted are asked to know the lease by the highest of these. Only what was confirmed counts. What comes to nothing is taken
 * back, also where no answer came yet.
 */
export class Round {
  private readonly startedAt: number;
  private readonly patience: Patience;
  private calls: readonly Reply[] = [];
  private ballots: readonly Ballot[] = [];
  private token = 0;
  private recall: Circumstances['recall'] = 'none';
  private outcome: RoundOutcome | undefined;
  private settle: (outcome: RoundOutcome) => void = () => undefined;
  /** Until it has failed, or its lease has ended. */
  private isWanted = true;

  constructor(
    private readonly parts: RoundParts,
    private readonly request: AcquireRequest,
    /** By our monotonic clock: from then on no answer is waited for. */
    private readonly giveUpAt: number,
  ) {
    this.startedAt = parts.clock.monotonic();
    this.patience = new Patience(parts.clock, request.ttlMs, () => this.step());
  }

  run(): Promise<RoundOutcome> {
    const settled = new Promise<RoundOutcome>((resolve) => (this.settle = resolve));
    this.calls = this.parts.links.map((link) => link.store.acquire(this.request));
    this.ballots = this.parts.links.map((link, i) => new Ballot(link, this.startedAt, this.calls[i] as Reply));
    this.ballots.forEach((ballot, i) => this.listen(ballot, this.calls[i] as Reply));
    return settled;
  }

  /** Nobody wants the lease any more: what is still under way is taken back when it comes. */
  end(): void {
    this.isWanted = false;
    if (this.outcome === undefined) this.fail(new StoreError('transient', 'the try was given up'));
  }

  /** Resolves when all nodes have answered, or never will. */
  get over(): Promise<unknown> {
    return Promise.allSettled(this.calls);
  }

  /** Something of it was taken back, or may have to be: its id is not to be used again. */
  get isDirty(): boolean {
    return this.ballots.some((ballot) => ballot.isDirty);
  }

  private get leftMs(): number {
    return this.giveUpAt - this.parts.clock.monotonic();
  }

  private listen(ballot: Ballot, call: Reply): void {
    ballot.link.within(this.leftMs, call).catch((error: unknown) => {
      if (ballot.state !== 'asked') return;
      ballot.state = 'failed';
      ballot.error = toStoreError(error);
      if (!this.isWanted) ballot.takeBack(this.request);
      this.step();
    });
    // Also after its time limit: it is a vote as long as the round lasts.
    call.then(
      (reply) => this.answered(ballot, reply),
      () => undefined,
    );
  }

  private answered(ballot: Ballot, reply: Granted | Busy | Queued): void {
    if (reply.kind !== 'granted') {
      ballot.state = 'busy';
      ballot.busy = { ...reply, kind: 'busy' };
    } else {
      ballot.state = 'granted';
      ballot.granted = reply.fencingToken;
    }
    if (this.outcome === undefined) this.step();
    else if (ballot.state === 'granted') this.cameLate(ballot);
  }

  private cameLate(ballot: Ballot): void {
    if (this.isWanted && countsFor(ballot.granted, this.token)) this.confirm(ballot);
    else ballot.takeBack(this.request);
  }

  private step(): void {
    if (this.outcome !== undefined) return;
    if (this.token > 0) this.confirmAll();
    const { memoryLimits } = this.parts;
    const witnesses = this.ballots.filter(({ recall }) => recall === 'told');
    const next = decide(
      this.ballots.map((ballot) => ballot.vote(memoryLimits)),
      this.token,
      {
        patient: this.token === 0 && this.patience.waitsFor(this.ballots),
        recall: this.recall,
        witnesses: witnesses.map((ballot) => ballot.vote(memoryLimits).experience),
      },
    );
    if (next.do === 'propose') this.propose(next.token);
    else if (next.do === 'recall') this.recallAll();
    else if (next.do === 'succeed') this.succeed();
    else if (next.do === 'give-up') this.giveUp();
  }

  private propose(token: number): void {
    this.token = token;
    this.step();
  }

  private confirmAll(): void {
    for (const ballot of this.ballots) if (needsConfirming(ballot.vote(undefined), this.token)) this.confirm(ballot);
  }

  private confirm(ballot: Ballot): void {
    const { link } = ballot;
    const { key, holderId } = this.request;
    const fencingToken = (ballot.asking = this.token);
    const memory = this.parts.memoryLimits !== undefined;
    link.within(this.leftMs, link.node.confirm({ key, holderId, fencingToken, memory })).then(
      (result) => this.confirmed(ballot, fencingToken, result),
      (error: unknown) => {
        if (ballot.asking !== fencingToken) return;
        ballot.state = 'failed';
        ballot.error = toStoreError(error);
        this.step();
      },
    );
  }

  private confirmed(ballot: Ballot, token: number, result: ConfirmResult): void {
    if (ballot.asking !== token) return;
    if (result.kind === 'confirmed') {
      ballot.confirmed = token;
      ballot.memory = result.memory;
      ballot.link.run = result.memory?.run ?? '';
    } else if (result.kind === 'ahead') {
      ballot.granted = result.fencingToken;
      ballot.asking = 0;
    } else ballot.state = 'lost';
    this.step();
  }

  /** Asks those that do not hold the lease which tokens they remember. */
  private recallAll(): void {
    const { key } = this.request;
    this.recall = 'asked';
    const asked = this.ballots.filter(({ confirmed }) => confirmed !== this.token);
    let left = asked.length;
    const settled = (ballot: Ballot, told?: Recalled): void => {
      ballot.recall = told ? 'told' : 'failed';
      if (told?.memory) ballot.memory = told.memory;
      left -= 1;
      if (left === 0) this.recall = 'done';
      if (this.outcome === undefined && told && told.fence >= this.token) this.propose(told.fence + 1);
      else this.step();
    };
    for (const ballot of asked) {
      const { link } = ballot;
      link.within(this.leftMs, link.node.recall({ key, memory: true })).then(
        (told) => settled(ballot, told),
        () => settled(ballot),
      );
    }
    if (left === 0) this.recall = 'done';
  }

  private succeed(): void {
    const { clock, memoryLimits, links } = this.parts;
    const { ttlMs } = this.request;
    const holds = (ballot: Ballot): boolean =>
      ballot.confirmed === this.token &&
      (memoryLimits === undefined || experienceOf(ballot.memory?.rememberedMs, memoryLimits) !== 'abstaining');
    const deadlines = this.ballots.filter(holds).map(({ sentAt }) => sentAt + ttlMs);
    const endsAt = deadlineOf(deadlines, majorityOf(links.length));
    // The clocks of two machines run at rates that differ by less than 1 %.
    if (clock.monotonic() >= endsAt - ttlMs * 0.01) {
      this.fail(new StoreError('transient', `the answers of the quorum took the whole ttl of ${String(ttlMs)} ms`));
      return;
    }
    const twins = sameServer(links);
    if (twins) {
      this.fail(twins);
      return;
    }
    this.finish({ kind: 'granted', fencingToken: this.token, endsAt });
    for (const ballot of this.ballots) {
      if (ballot.state === 'granted' && !countsFor(ballot.granted, this.token)) ballot.takeBack(this.request);
    }
  }

  private giveUp(): void {
    const outcome = outcomeOf(this.ballots, this.token, this.parts.memoryLimits);
    if (outcome) this.fail(outcome);
  }

  private fail(outcome: RoundOutcome): void {
    this.isWanted = false;
    this.finish(outcome);
    for (const ballot of this.ballots) ballot.takeBack(this.request);
  }

  private finish(outcome: RoundOutcome): void {
    this.outcome = outcome;
    this.patience.end();
    this.settle(outcome);
  }
}
