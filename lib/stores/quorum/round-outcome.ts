import { StoreError, type Busy } from '../lease-store.js';
import type { Ballot } from './ballot.js';
import type { NodeLink } from './node-link.js';
import { elect, majorityOf, type Experience, type MemoryLimits } from './rules.js';
import { judgeBusy, noMajority, type Failure } from './verdicts.js';

/** A round that came to nothing: others are in the way, or too few nodes can be had. */
export type NotElected = (Busy & { readonly split: boolean }) | StoreError;

/** What is told of a round that cannot succeed any more; `undefined` while that depends on nodes which have not answered yet. */
export function outcomeOf(ballots: readonly Ballot[], token: number, limits: MemoryLimits | undefined): NotElected | undefined {
  const most = ballots.length - majorityOf(ballots.length);
  const busy = ballots.flatMap((ballot) => (ballot.busy ? [ballot.busy] : []));
  const failures = failuresOf(ballots, token, limits);
  if (busy.length === 0 || failures.length > most) return noMajority(ballots.length, failures);
  const open = ballots.filter(({ state }) => state === 'asked').length;
  if (failures.length + open > most) return undefined;
  const granted = ballots.filter(({ state }) => state === 'granted').length;
  return judgeBusy(ballots.length, busy, granted);
}

function failuresOf(ballots: readonly Ballot[], token: number, limits: MemoryLimits | undefined): Failure[] {
  const experience = (ballot: Ballot): Experience => ballot.vote(limits).experience;
  const voters = ballots.filter(({ state, confirmed }) => state === 'granted' && token > 0 && confirmed === token);
  const witnesses = ballots.filter(({ recall }) => recall === 'told');
  const unlearned = elect(ballots.length, voters.map(experience), witnesses.map(experience)) === 'unlearned';
  return ballots.flatMap((ballot) => {
    const { name } = ballot.link;
    if (ballot.state === 'failed' && ballot.error) return [{ name, error: ballot.error }];
    if (ballot.state === 'lost') return [{ name, error: new StoreError('transient', LOST) }];
    if (limits === undefined || !voters.includes(ballot)) return [];
    if (experience(ballot) === 'abstaining') return [{ name, error: abstaining(ballot.memory?.rememberedMs, limits) }];
    return unlearned && experience(ballot) === 'young' ? [{ name, error: new StoreError('transient', UNLEARNED) }] : [];
  });
}

/** The error for two nodes that turn out to be one server: its loss would cost two votes. */
export function sameServer(links: readonly NodeLink[]): StoreError | undefined {
  const names = new Map<string, string>();
  for (const { name, run } of links) {
    const first = run === '' ? undefined : names.get(run);
    if (first !== undefined) {
      return new StoreError('fatal', `${first} and ${name} of the quorum are the same server: give each node a server of its own`);
    }
    names.set(run, name);
  }
  return undefined;
}

const LOST = 'it granted the lease, and had lost it when it was to be confirmed';
const UNLEARNED =
  'it may have forgotten fencing tokens when it started, and too few nodes that remember them can be asked (options "fenceRetention", "nodesForget")';

function abstaining(rememberedMs: number | undefined, { longestTtlMs }: MemoryLimits): StoreError {
  if (rememberedMs === undefined) {
    const remedy = 'allow its user INFO, or say by "nodesForget: false" that the nodes keep every write through a restart';
    return new StoreError('fatal', `it does not vote, since it refuses INFO and so does not say when it started: ${remedy}`);
  }
  const retryAfterMs = longestTtlMs - rememberedMs;
  const message = `it does not vote for another ${String(Math.ceil(retryAfterMs / 1000))} s: it started a short while ago and may have forgotten leases (options "longestTtl", "nodesForget")`;
  return new StoreError('transient', message, { retryAfterMs });
}

/** Why a lease must not live for so long, if so: nodes that have restarted wait for no longer than `longestTtl`. */
export function ttlRefusal(ttlMs: number, limits: MemoryLimits | undefined): StoreError | undefined {
  if (limits === undefined || ttlMs <= limits.longestTtlMs) return undefined;
  const longest = String(limits.longestTtlMs);
  const message = `a ttl of ${String(ttlMs)} ms is longer than "longestTtl" of the quorum, ${longest} ms: after a restart nodes wait for no longer than that; raise it in every process, or ask for less`;
  return new StoreError('fatal', message);
}
