import type { Amnesia, Grant, History, Pass } from './history.js';

/** Clocks of two processes of one machine agree to this; a script's clock is read a moment before MONITOR shows what it does. */
const SLACK_MS = 25;
/** How slow a busy machine may be, and how long a client takes to connect again. */
const SLOW_MS = 4000;
/** Offers stand for so long (twice the limit of a command), or for a ttl. */
const CLAIM_MS = 1200;

/** I1: what a fence accepts never has a lower token than what it accepted before, nor the same one from another holder. */
export function staleAccepted({ audited }: History): string[] {
  return (['register', 'set'] as const).flatMap((fence) => {
    const last = new Map<string, { token: number; tag: string }>();
    return audited.flatMap((one) => {
      // Reading claims the row; the set is only written to.
      if (!one[fence]) return [];
      const before = last.get(one.key);
      last.set(one.key, before && before.token > one.token ? before : one);
      if (!before || one.token > before.token || (one.token === before.token && one.tag === before.tag)) return [];
      return [`the ${fence} of ${one.key} accepted ${String(one.token)} (${one.tag}) after ${String(before.token)} (${before.tag})`];
    });
  });
}

/** What was acknowledged is there in the end, and what was refused is not. */
export function lostOrStale({ audited, rows }: History): string[] {
  const writes = audited.filter(({ op }) => op === 'write');
  const inSet = new Map(rows.set.map((item) => [item.element, item]));
  const inRegister = new Map(Object.entries(rows.fenced).map(([key, { elements }]) => [key, new Set(elements)]));
  const wrong = writes.flatMap(({ key, element, register, set }) => [
    ...(register === (inRegister.get(key)?.has(element) ?? false) ? [] : [`register ${key}: ${told(register)} ${String(element)}`]),
    ...(set === inSet.has(element) ? [] : [`set ${key}: ${told(set)} ${String(element)}`]),
  ]);
  const counts = Object.entries(rows.fenced).flatMap(([key, row]) => {
    const accepted = writes.filter((write) => write.key === key && write.register).length;
    return row.counter === accepted ? [] : [`register ${key} says ${String(row.counter)} after ${String(accepted)} writes`];
  });
  const doubled = rows.set.length - inSet.size;
  return [...wrong, ...counts, ...(doubled === 0 ? [] : [`set: ${String(doubled)} elements twice`])];
}

const told = (accepted: boolean): string => (accepted ? 'acknowledged and lost' : 'refused and there');

/** I2: no two leases of a key have the same token, and one that was asked for after another was had is higher. */
export function tokensNotRising({ grants }: History): string[] {
  return byKey(grants).flatMap(([key, ofKey]) => {
    const seen = new Map<number, Grant>();
    const twice = ofKey.flatMap((grant) => {
      const other = seen.get(grant.token);
      seen.set(grant.token, grant);
      return other && other.tag !== grant.tag ? [`${key}: token ${String(grant.token)} for ${other.client} and ${grant.client}`] : [];
    });
    let highest: Grant | undefined;
    const known = [...ofKey].sort((one, other) => one.at - other.at);
    let next = 0;
    const lower = [...ofKey]
      .sort((one, other) => one.askedAt - other.askedAt)
      .flatMap((grant) => {
        for (let before = known[next]; before && before.at < grant.askedAt; before = known[++next])
          if (!highest || before.token > highest.token) highest = before;
        if (!highest || grant.token > highest.token) return [];
        return [`${key}: token ${String(grant.token)} of ${grant.client}, asked for after ${String(highest.token)} was had`];
      });
    return [...twice, ...lower];
  });
}

/** I3, and how many passes could not be judged, since the store had forgotten. */
export interface Held {
  readonly violations: readonly string[];
  readonly judged: number;
  readonly excused: number;
}

/** I3: when `assertHeld()` passed, enough nodes had the lease for that holder. */
export function passedUnheld(history: History): Held {
  const { stays, passes, votes, ttlMs } = history;
  const byTag = new Map<string, (typeof stays)[number][]>();
  for (const stay of stays) byTag.set(stay.tag, [...(byTag.get(stay.tag) ?? []), stay]);
  const grants = new Map(history.grants.map((grant) => [grant.tag, grant]));
  const violations: string[] = [];
  let excused = 0;
  for (const pass of passes) {
    const holding = (byTag.get(pass.tag) ?? []).filter(({ from, to }) => from - SLACK_MS <= pass.at && pass.at <= to + SLACK_MS);
    if (new Set(holding.map(({ node }) => node)).size >= votes) continue;
    if (history.amnesia.some((one) => excuses(one, pass, grants.get(pass.tag), ttlMs))) excused += 1;
    else
      violations.push(
        `${pass.client} held ${pass.key} (${String(pass.token)}) at ${String(pass.at)}: ${JSON.stringify(byTag.get(pass.tag) ?? [])}`,
      );
  }
  return { violations, judged: passes.length - excused, excused };
}

/** A holder of before learns of it at its next renewal, or at its soft deadline. */
function excuses(amnesia: Amnesia, pass: Pass, grant: Grant | undefined, ttlMs: number): boolean {
  if (amnesia.key !== undefined && amnesia.key !== pass.key) return false;
  const before = (grant?.askedAt ?? 0) < amnesia.until + SLACK_MS;
  return before && amnesia.from - SLACK_MS <= pass.at && pass.at <= amnesia.until + (2 / 3) * ttlMs + SLACK_MS;
}

/** I4: once everything was healed, each key was held within a ttl, a claim for each dead process, and a look. */
export function notServed({ keys, healedAt, endedAt, grants, passes, ttlMs, dead }: History): string[] {
  const limit = ttlMs + dead * Math.min(ttlMs, CLAIM_MS) + SLOW_MS;
  return keys.flatMap((key) => {
    const times = [...grants, ...passes].filter((one) => one.key === key && one.at > healedAt).map(({ at }) => at);
    const first = Math.min(endedAt, ...times);
    if (first - healedAt <= limit && times.length > 0) return [];
    return [`${key}: nobody held it for ${String(Math.round(first - healedAt))} ms after the faults`];
  });
}

/** Instants of the job that ran twice, unless the store had forgotten the first. */
export function ranTwice({ runs, amnesia }: History): string[] {
  const first = new Map<number, (typeof runs)[number]>();
  return [...runs]
    .sort((one, other) => one.at - other.at)
    .flatMap((run) => {
      const before = first.get(run.instant);
      if (!before) first.set(run.instant, run);
      if (!before || amnesia.some(({ key, from, until }) => key === undefined && from <= run.at && before.at <= until)) return [];
      return [`the instant ${String(run.instant)} ran on ${before.client} and on ${run.client}`];
    });
}

/** Instants of the job that nobody ran, in the quiet time after the faults. */
export function ranNever({ runs, healedAt, endedAt, ttlMs, scheduled }: History): string[] {
  if (!scheduled) return [];
  const ran = new Set(runs.map(({ instant }) => instant));
  const never: string[] = [];
  for (let instant = Math.ceil((healedAt + ttlMs + SLOW_MS) / 1000) * 1000; instant < endedAt - 1500; instant += 1000)
    if (!ran.has(instant)) never.push(`nobody ran the instant ${String(instant)}`);
  return never;
}

/** What happens to what no fence protects; not a fault of anybody, but what fencing is for. */
export interface Unfenced {
  readonly writes: number;
  /** Writes that came after somebody with a higher token had written or read. */
  readonly late: number;
  /** Acknowledged elements that are not there in the end. */
  readonly lost: number;
}

/** The row without a fence, for one key. */
export function unfenced({ audited, rows }: History, key: string): Unfenced {
  const all = audited.filter((one) => one.key === key);
  const left = new Set(rows.plain[key]?.elements);
  let highest = 0;
  let late = 0;
  for (const { op, token } of all) {
    if (op === 'write' && token < highest) late += 1;
    highest = Math.max(highest, token);
  }
  const writes = all.filter(({ op }) => op === 'write');
  return { writes: writes.length, late, lost: writes.filter(({ element }) => !left.has(element)).length };
}

/** Checks that passed when somebody else had a newer lease of the key already: a mutex would call it a violation. I3 says when it is none of ours. */
export function overlaps({ grants, passes }: History): number {
  const newest = new Map(byKey(grants));
  return passes.filter(({ key, token, at }) => newest.get(key)?.some((grant) => grant.token > token && grant.at < at)).length;
}

/** The longest time without a sign of any holder, by key, in milliseconds: nobody got the lease, and nobody said that it has it. */
export function longestGaps({ grants, passes }: History): Record<string, number> {
  const signs = byKey<{ key: string; at: number }>([...grants, ...passes]);
  return Object.fromEntries(
    signs.map(([key, all]) => {
      const times = all.map(({ at }) => at).sort((one, other) => one - other);
      return [key, Math.round(Math.max(0, ...times.slice(1).map((at, i) => at - (times[i] as number))))];
    }),
  );
}

function byKey<T extends { readonly key: string }>(all: readonly T[]): [string, T[]][] {
  const found = new Map<string, T[]>();
  for (const one of all) found.set(one.key, [...(found.get(one.key) ?? []), one]);
  return [...found];
}
