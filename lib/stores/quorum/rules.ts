/*
 * The decisions of the quorum, and nothing else: the model check of the tests runs these very functions through all
 * interleavings. Times in milliseconds.
 */

/** So many nodes must agree. Two majorities share a node, which is what keeps two holders apart. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1;
}

/** The token of the lease: not below any that a node of the granted majority gave. */
export function chooseToken(granted: readonly number[]): number {
  return Math.max(...granted);
}

/**
 * Whether a node's grant can stand for a lease of this token. One that came later with a higher token cannot: in between another
 * holder may have come and gone, with a token that is higher than this one.
 */
export function countsFor(granted: number, token: number): boolean {
  return granted <= token;
}

/** When the lease is over: each node has a deadline of its own, and until the majority-th latest of them a majority holds it. */
export function deadlineOf(deadlines: readonly number[], majority: number): number {
  return [...deadlines].sort((a, b) => b - a)[majority - 1] ?? -Infinity;
}

/** What a node that may have forgotten is good for. */
export type Experience =
  /** It remembers every token that matters. */
  | 'experienced'
  /** It may have forgotten tokens, but every lease from before is over. */
  | 'young'
  /** Somebody may still hold a lease that it has forgotten, or it would not say. */
  | 'abstaining';

/** How long nodes are watched after a start. */
export interface MemoryLimits {
  readonly longestTtlMs: number;
  readonly fenceRetentionMs: number;
}

/** `rememberedMs`: for how long the node has forgotten nothing; `undefined` when it would not say. */
export function experienceOf(rememberedMs: number | undefined, { longestTtlMs, fenceRetentionMs }: MemoryLimits): Experience {
  if (rememberedMs === undefined || rememberedMs < longestTtlMs) return 'abstaining';
  return rememberedMs < fenceRetentionMs ? 'young' : 'experienced';
}

/** `short`: too few votes. `unlearned`: enough, but of nodes that may have forgotten tokens, while others may know them and have not been heard. */
export type Election = 'elected' | 'short' | 'unlearned';

/**
 * Whether these acknowledgements make a lease. `voters` hold it and have confirmed its token; `witnesses` do not hold it, but have
 * said which tokens they remember, all below. Any token that counted is remembered by a majority, so of a majority of experienced
 * nodes one at least knows it. Where so many have forgotten that there cannot be such a majority, the clocks of the servers keep
 * the order, as they do for a single Redis; until then nobody is elected without it.
 */
export function elect(nodes: number, voters: readonly Experience[], witnesses: readonly Experience[] = []): Election {
  const majority = majorityOf(nodes);
  if (voters.filter((one) => one !== 'abstaining').length < majority) return 'short';
  const heard = [...voters, ...witnesses];
  const experienced = heard.filter((one) => one === 'experienced').length;
  if (experienced >= majority) return 'elected';
  const forgetful = heard.length - experienced;
  return forgetful > nodes - majority ? 'elected' : 'unlearned';
}
