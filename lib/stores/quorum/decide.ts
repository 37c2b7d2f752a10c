import { chooseToken, countsFor, elect, majorityOf, type Experience } from './rules.js';

/**
 * `asked`: no answer yet. `granted`. `refused`: others have it, it cannot be asked, or what it granted was lost before it was
 * confirmed.
 */
export type VoteState = 'asked' | 'granted' | 'refused';

/** One node, as far as the decision needs it. */
export interface Vote {
  readonly state: VoteState;
  /** The token that it gave. */
  readonly granted: number;
  /** The token whose confirmation it was sent last; 0 for none. */
  readonly asking: number;
  /** The last token that it has confirmed; 0 for none. */
  readonly confirmed: number;
  readonly experience: Experience;
}

/** What a round does next. `recall`: ask those that do not hold the lease which tokens they remember. */
export type Step = { readonly do: 'wait' | 'recall' | 'succeed' | 'give-up' } | { readonly do: 'propose'; readonly token: number };

/** What else is known. */
export interface Circumstances {
  /** There is time to wait for nodes that have not answered, though a majority has granted. */
  readonly patient: boolean;
  /** Of nodes that do not hold the lease, and have said which tokens they remember. */
  readonly witnesses: readonly Experience[];
  /** Whether they were asked. */
  readonly recall: 'none' | 'asked' | 'done';
  /** Default: the rule. Tests show what goes wrong without it. */
  readonly counts?: typeof countsFor;
}

/** What a round does next, from nothing but what the nodes have said. `token`: the one that was proposed; 0 before. */
export function decide(votes: readonly Vote[], token: number, circumstances: Circumstances): Step {
  return token === 0 ? decideFirst(votes, circumstances) : decideNext(votes, token, circumstances);
}

/** Whether the node is to be asked to confirm this token. */
export function needsConfirming({ state, asking, granted }: Omit<Vote, 'experience'>, token: number, counts = countsFor): boolean {
  return state === 'granted' && asking !== token && counts(granted, token);
}

function decideFirst(votes: readonly Vote[], { patient }: Circumstances): Step {
  const majority = majorityOf(votes.length);
  const granted = votes.filter(({ state }) => state === 'granted');
  const open = votes.filter(({ state }) => state === 'asked').length;
  if (granted.length + open < majority) return { do: 'give-up' };
  if (granted.length < majority || (patient && open > 0)) return { do: 'wait' };
  return { do: 'propose', token: chooseToken(granted.map((vote) => vote.granted)) };
}

function decideNext(votes: readonly Vote[], token: number, circumstances: Circumstances): Step {
  const { witnesses, recall, counts = countsFor } = circumstances;
  const majority = majorityOf(votes.length);
  const granted = votes.filter(({ state }) => state === 'granted');
  const voters = granted.filter(({ confirmed }) => confirmed === token);
  const experience = voters.map((vote) => vote.experience);
  const election = elect(votes.length, experience, witnesses);
  if (election === 'elected') return { do: 'succeed' };
  const underWay = granted.filter(({ asking, confirmed }) => asking === token && confirmed !== token).length;
  const reach = underWay + experience.filter((one) => one !== 'abstaining').length;
  if (reach >= majority) {
    if (underWay > 0 || recall === 'asked') return { do: 'wait' };
    if (recall === 'none') return { do: 'recall' };
  }
  // With this token it cannot be had: a later grant may raise it.
  const late = granted.filter((vote) => !counts(vote.granted, token)).map((vote) => vote.granted);
  const open = votes.filter(({ state }) => state === 'asked').length;
  const wanted = Math.max(1, majority - reach);
  if (late.length >= wanted) return { do: 'propose', token: chooseToken(late) };
  return late.length + open >= wanted ? { do: 'wait' } : { do: 'give-up' };
}
