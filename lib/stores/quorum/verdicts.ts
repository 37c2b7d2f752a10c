import { StoreError, type Busy, type LeaseRecord, type RenewResult, type StoreErrorKind } from '../lease-store.js';
import type { NodeRenewResult } from '../quorum-node.js';
import { toStoreError } from '../to-store-error.js';
import type { Answer } from './gather.js';
import { majorityOf } from './rules.js';

/** Those who find a free key divided among them have given it back by then. */
const SPLIT_MS = 50;

type Answers<T> = readonly (Answer<T> | undefined)[];

/** What went wrong, of the nodes that went wrong. */
export interface Failure {
  readonly name: string;
  readonly error: StoreError;
}

/** The error of the quorum where too few nodes do what is asked. Its kind is theirs, where they agree. */
export function noMajority(nodes: number, failures: readonly Failure[]): StoreError {
  const kinds = new Set(failures.map(({ error }) => error.kind));
  const [only] = kinds;
  const kind: StoreErrorKind = kinds.size === 1 && only !== undefined ? only : 'transient';
  const told = failures.map(({ name, error }) => `${name}: ${error.message}`).join('; ');
  const retries = failures.map(({ error }) => error.retryAfterMs).filter((ms) => ms !== undefined);
  const message = `no majority (${String(majorityOf(nodes))} of ${String(nodes)}) of the nodes of the quorum can be had${told === '' ? '' : `: ${told}`}`;
  const retryAfterMs = retries.length > 0 ? Math.min(...retries) : undefined;
  return new StoreError(kind, message, { cause: failures[0]?.error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

/** What a renewal has come to: `held` when a majority holds it, lost when a majority does not any more; `undefined` as long as it is open. */
export function judgeRenewal(answers: Answers<NodeRenewResult>, complete: boolean, name: (i: number) => string): RenewResult | undefined {
  const nodes = answers.length;
  const majority = majorityOf(nodes);
  const said = answers.flatMap((answer) => (answer?.value && answer.value.kind !== 'unknown' ? [answer.value] : []));
  const lost = said.filter(({ kind }) => kind !== 'held');
  if (said.length - lost.length >= majority) return { kind: 'held' };
  if (lost.length > nodes - majority) {
    const taken = lost.filter((one) => one.kind === 'taken');
    if (taken.length < majority) return { kind: 'gone' };
    const token = Math.max(...taken.map(({ fencingToken = 0 }) => fencingToken));
    return { kind: 'taken', ...(token > 0 ? { fencingToken: token } : {}) };
  }
  return complete ? { kind: 'unknown', error: noMajority(nodes, failuresOf(answers, name)) } : undefined;
}

/**
 * Who holds the key, or `null` when nobody has a majority of it; `undefined` as long as it is open. When not all can be asked, one
 * who may have it counts as its holder.
 * @throws StoreError when there is no majority to be asked
 */
export function judgeRecord(
  answers: Answers<LeaseRecord | undefined>,
  complete: boolean,
  name: (i: number) => string,
): LeaseRecord | null | undefined {
  const majority = majorityOf(answers.length);
  const said = answers.filter((answer) => answer && answer.error === undefined);
  if (said.length < majority) {
    if (complete) throw noMajority(answers.length, failuresOf(answers, name));
    return undefined;
  }
  const groups = groupBy(said.flatMap((answer) => (answer?.value ? [answer.value] : [])));
  const [largest = []] = groups;
  if (largest.length >= majority) return merge(largest, majority);
  const unheard = answers.length - said.length;
  if (largest.length + unheard < majority) return null;
  return complete ? merge(largest, majority) : undefined;
}

/** What is told to one whom others are in the way. `split`: nobody has a majority, so it will be free as soon as they see that. */
export function judgeBusy(nodes: number, busy: readonly Busy[], granted: number): Busy & { readonly split: boolean } {
  const majority = majorityOf(nodes);
  const [largest = []] = groupBy(busy);
  const split = largest.length < majority;
  const ends = busy.map(({ remainingMs }) => remainingMs).sort((a, b) => a - b);
  const freeAfterMs = ends[Math.min(ends.length, Math.max(1, majority - granted)) - 1] ?? SPLIT_MS;
  const { holder = '', holderTag = '' } = largest[0] ?? {};
  const fencingToken = Math.max(0, ...largest.map((one) => one.fencingToken));
  const remainingMs = split ? Math.min(freeAfterMs, SPLIT_MS) : freeAfterMs;
  return { kind: 'busy', remainingMs, fencingToken, holder, holderTag, split };
}

/** Whose calls went wrong. */
export function failuresOf(answers: Answers<unknown>, name: (i: number) => string): Failure[] {
  return answers.flatMap((answer, i) => {
    const failed = answer?.error ?? unknownOf(answer?.value);
    return failed ? [{ name: name(i), error: failed }] : [];
  });
}

function unknownOf(value: unknown): StoreError | undefined {
  if (typeof value !== 'object' || value === null || !('kind' in value) || value.kind !== 'unknown') return undefined;
  return 'error' in value ? toStoreError(value.error) : undefined;
}

/** By holder, the one that most nodes name first. */
function groupBy<T extends { readonly holderTag: string }>(records: readonly T[]): T[][] {
  const groups = new Map<string, T[]>();
  for (const record of records) groups.set(record.holderTag, [...(groups.get(record.holderTag) ?? []), record]);
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

/** One record of what several nodes say of the same holder: until when a majority of them holds it for him. */
function merge(records: readonly LeaseRecord[], majority: number): LeaseRecord | null {
  const [newest] = [...records].sort((a, b) => b.fencingToken - a.fencingToken);
  if (newest === undefined) return null;
  const ends = records.map(({ remainingMs }) => remainingMs).sort((a, b) => b - a);
  const remainingMs = ends[Math.min(majority, ends.length) - 1] ?? 0;
  return { ...newest, since: Math.min(...records.map(({ since }) => since)), remainingMs, waiters: 0 };
}
