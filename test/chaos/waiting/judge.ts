import { now, outcomeOf, TTL_MS, type Asked, type History, type Replica } from './storm.js';

/** An offer stands for so long: the shorter of the ttl and twice the limit of a command. */
const CLAIM_MS = TTL_MS;
/** A waiter looks so late at most after the time of a holder; and how slow a busy machine may be. */
const POLL_MS = 50;
const SLOW_MS = 700;

interface Span {
  readonly id: string;
  readonly token: number;
  readonly from: number;
  readonly to: number;
}

/** From when to when each call believed that it held the lease, by the one clock of the machine. */
function heldSpans({ asked }: History, key: string): Span[] {
  const spans: Span[] = [];
  for (const { order, replica } of asked) {
    if (order.key !== key) continue;
    const of = (type: string) => replica.process.messages.find((message) => message.id === order.id && message.type === type);
    const [granted, ends] = [of('granted'), of('ends')];
    if (granted && ends?.held === true)
      spans.push({ id: order.id, token: Number(granted.token), from: Number(granted.at), to: Number(ends.at) });
  }
  return spans.sort((one, other) => one.from - other.from);
}

/** Pairs that held the same lease at once, and tokens that did not rise from one to the next. */
export function twoHolders(history: History): string[] {
  return history.models.flatMap(({ lease }) => {
    const spans = heldSpans(history, /\{(.*)\}/.exec(lease)?.[1] ?? '');
    return spans.flatMap((next, i) => {
      const last = spans.slice(0, i).find(({ to, token }) => next.from < to || next.token <= token);
      return last ? [`${lease}: ${JSON.stringify(last)} and ${JSON.stringify(next)}`] : [];
    });
  });
}

const undisturbed = ({ troubles }: Replica, from: number, to: number): boolean =>
  !troubles.some((trouble) => trouble.from < to && trouble.until > from);

/** Whether a call of a process that nothing happened to waited all the time. */
function waited({ order, replica, at }: Asked, from: number, to: number): boolean {
  if (order.cancelMs !== undefined || at > from - 100 || !undisturbed(replica, at, to)) return false;
  const granted = replica.process.messages.find((message) => message.id === order.id && message.type === 'granted');
  return Number(granted?.at ?? now()) >= to;
}

/** Times between two grants of a key that were longer than the holder's ttl, a claim for each process in trouble, and a look. */
export function lostWakeUps(history: History): string[] {
  return history.models.flatMap(({ lease, steps }) => {
    const key = /\{(.*)\}/.exec(lease)?.[1];
    const grants = steps.filter(({ kind }) => kind === 'granted');
    return grants.slice(1).flatMap((grant, i) => {
      const from = grants[i]?.at ?? 0;
      const troubled = history.replicas.filter((replica) => !undisturbed(replica, from - 10_000, grant.at)).length;
      const limit = TTL_MS + troubled * CLAIM_MS + POLL_MS + SLOW_MS;
      if (grant.at - from <= limit) return [];
      const witness = history.asked.find((one) => one.order.key === key && waited(one, from, grant.at));
      return witness ? [`${lease}: ${String(Math.round(grant.at - from))} ms without a holder, while ${witness.order.id} waited`] : [];
    });
  });
}

/** Calls of processes that lived to the end, neither cancelled nor served. */
export function unserved({ asked }: History): string[] {
  return asked
    .filter(({ order, replica }) => !replica.killed && order.cancelMs === undefined)
    .flatMap(({ order, replica }) => {
      const outcome = outcomeOf(replica, order.id);
      return outcome?.type === 'released' ? [] : [`${order.id}: ${JSON.stringify(outcome)}`];
    });
}
