import { refuseToken } from '../../../../lib/stores/memory/memory-quorum-node.js';
import { decide, needsConfirming, type Vote } from '../../../../lib/stores/quorum/decide.js';
import type { countsFor, Experience } from '../../../../lib/stores/quorum/rules.js';

/**
 * The protocol of the quorum as a small machine, of which every interleaving can be tried: two clients that want one key of three
 * nodes, each once, with the decisions of the library itself. Every request and every answer takes as long as it likes. A node may
 * drop a lease that it has not confirmed at any time (`losses` of these); one that it has confirmed only when the holder's time is
 * over, which the holder's own clock tells. The clocks of the nodes stand still, so that nothing but the protocol orders tokens.
 */
export interface Variant {
  /** What a node has against confirming a token. Default: the rule. */
  readonly refuse?: typeof refuseToken;
  /** Which grants can stand for a token. Default: the rule. */
  readonly counts?: typeof countsFor;
  /** How many unconfirmed leases nodes drop at most. */
  readonly losses: number;
  /** How often nodes restart at most, and forget everything: after somebody got the lease. Default: never. */
  readonly restarts?: number;
  /** They restart before that, too: many more states. */
  readonly early?: boolean;
  /** What a node that has restarted counts as. Default: what it is. */
  readonly experience?: (one: Experience) => Experience;
}

/** What was found. `trace`: the steps that lead to it. */
export interface Finding {
  readonly states: number;
  readonly successes: number;
  readonly violation?: { readonly what: string; readonly trace: readonly string[] };
}

const NODES = [0, 1, 2] as const;
const CLIENTS = [0, 1] as const;

interface NodeState {
  /** -1: free. */
  owner: number;
  own: number;
  fence: number;
  memory: Experience;
  /** Which clients may hold what it has forgotten; it abstains until their time is over. */
  waitsFor: boolean[];
}

/** What is between one client and one node. */
interface Link {
  /** Of the acquire: on its way; a grant that is on its way back; told. */
  acquire: 'sent' | 'granted' | 'told';
  vote: 'asked' | 'granted' | 'refused';
  granted: number;
  asking: number;
  confirmed: number;
  /** Of the confirmation of `asking`. */
  confirm: 'none' | 'sent' | 'confirmed' | 'refused' | 'ahead';
  /** The token that the node has confirmed, told or not. */
  stands: number;
  /** What the node was when it confirmed. */
  experience: Experience;
  /** Whether it was asked which tokens it remembers, and what it was when it said so. */
  recall: 'none' | 'asked' | Experience;
}

interface Client {
  /** `over`: it came to nothing, was given back, or its time has passed. */
  phase: 'trying' | 'holding' | 'over';
  token: number;
  recall: 'none' | 'asked' | 'done';
  links: Link[];
}

interface State {
  nodes: NodeState[];
  clients: Client[];
  losses: number;
  restarts: number;
  /** The highest token that was returned. */
  last: number;
}

const begin = ({ losses, restarts = 0 }: Variant): State => ({
  nodes: NODES.map(() => ({ owner: -1, own: 0, fence: 0, memory: 'experienced', waitsFor: [false, false] })),
  clients: CLIENTS.map(() => ({
    phase: 'trying',
    token: 0,
    recall: 'none',
    links: NODES.map(() => ({
      acquire: 'sent',
      vote: 'asked',
      granted: 0,
      asking: 0,
      confirmed: 0,
      confirm: 'none',
      stands: 0,
      experience: 'experienced',
      recall: 'none',
    })),
  })),
  losses,
  restarts,
  last: 0,
});

class Violation extends Error {}

/** Tries everything that can happen, in every order; the shortest ways first. */
export function explore(variant: Variant): Finding {
  const start = begin(variant);
  const seen = new Set([keyOf(start)]);
  const queue: { state: State; trace: Trace }[] = [{ state: start, trace: undefined }];
  let successes = 0;
  // The queue grows while it is gone through.
  for (const { state, trace } of queue) {
    for (const [name, step] of stepsOf(state, variant)) {
      const after = copy(state);
      const before = after.last;
      const path = { name, before: trace };
      try {
        step(after);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        return { states: seen.size, successes, violation: { what: error.message, trace: unwind(path) } };
      }
      if (after.last !== before) successes += 1;
      const key = keyOf(after);
      if (seen.has(key)) continue;
      seen.add(key);
      queue.push({ state: after, trace: path });
    }
  }
  return { states: seen.size, successes };
}

type Trace = { readonly name: string; readonly before: Trace } | undefined;
type Step = (state: State) => void;

function unwind(trace: Trace): string[] {
  const names: string[] = [];
  for (let at = trace; at; at = at.before) names.unshift(at.name);
  return names;
}

function* stepsOf(state: State, variant: Variant): Generator<[string, Step]> {
  for (const c of CLIENTS) {
    const { phase, links } = state.clients[c]!;
    const who = 'AB'[c]!;
    for (const n of NODES) {
      const { acquire, confirm } = links[n]!;
      if (acquire === 'sent') yield [`${who} asks ${n}`, (s) => executeAcquire(s, c, n, variant)];
      if (acquire === 'granted') yield [`${who} hears the grant of ${n}`, (s) => hearGrant(s, c, n, variant)];
      if (confirm === 'sent') yield [`${who} confirms at ${n}`, (s) => executeConfirm(s, c, n, variant)];
      if (confirm !== 'none' && confirm !== 'sent') yield [`${who} hears "${confirm}" of ${n}`, (s) => hearConfirm(s, c, n, variant)];
    }
    for (const n of NODES) {
      if (phase === 'trying' && links[n]!.recall === 'asked')
        yield [`${who} hears what ${n} remembers`, (s) => hearRecall(s, c, n, variant)];
    }
    if (phase !== 'over') yield [`${who} gives back, or his time is over`, (s) => end(s.clients[c]!)];
  }
  for (const n of NODES) {
    const { owner, memory, waitsFor } = state.nodes[n]!;
    if (state.restarts > 0 && (state.last > 0 || variant.early)) yield [`${n} restarts`, (s) => restart(s, n)];
    if (memory === 'abstaining' && !waitsFor.some((waits, c) => waits && state.clients[c]!.phase !== 'over'))
      yield [`${n} has been up for the longest ttl`, (s) => void (s.nodes[n]!.memory = 'young')];
    if (owner < 0) continue;
    const client = state.clients[owner]!;
    // Given back, or over with the ttl, each node at its own time.
    if (client.phase === 'over') yield [`${n} drops the lease of ${'AB'[owner]!}`, (s) => free(s, n)];
    else if (state.losses > 0 && client.links[n]!.stands === 0) yield [`${n} loses the lease of ${'AB'[owner]!}`, (s) => lose(s, n)];
  }
}

/** Whoever has begun may hold what it has forgotten, until his time is over. */
function restart(state: State, n: number): void {
  state.restarts -= 1;
  const waitsFor = state.clients.map(({ phase, links }) => phase !== 'over' && links.some(({ acquire }) => acquire !== 'sent'));
  state.nodes[n] = { owner: -1, own: 0, fence: 0, memory: 'abstaining', waitsFor };
}

function hearRecall(state: State, c: number, n: number, variant: Variant): void {
  const client = state.clients[c]!;
  const { memory, fence } = state.nodes[n]!;
  client.links[n]!.recall = memory;
  if (client.links.every(({ recall }) => recall !== 'asked')) client.recall = 'done';
  if (fence >= client.token) client.token = fence + 1;
  proceed(state, c, variant);
}

function lose(state: State, n: number): void {
  state.losses -= 1;
  free(state, n);
}

function executeAcquire(state: State, c: number, n: number, variant: Variant): void {
  const node = state.nodes[n]!;
  const client = state.clients[c]!;
  const link = client.links[n]!;
  link.acquire = 'told';
  if (node.owner >= 0) {
    link.vote = 'refused';
    proceed(state, c, variant);
    return;
  }
  node.own = node.fence + 1;
  node.fence = node.own;
  node.owner = c;
  link.granted = node.own;
  if (client.phase !== 'over') link.acquire = 'granted';
}

function hearGrant(state: State, c: number, n: number, variant: Variant): void {
  const client = state.clients[c]!;
  const link = client.links[n]!;
  link.acquire = 'told';
  link.vote = 'granted';
  if (client.phase === 'trying') proceed(state, c, variant);
  // Late, and of no use: it is given back. Or it joins the others.
  else if (!needsConfirming({ ...link, state: link.vote }, client.token, variant.counts)) free(state, n);
  else sendConfirm(link, client.token);
}

function sendConfirm(link: Link, token: number): void {
  link.asking = token;
  link.confirm = 'sent';
}

function executeConfirm(state: State, c: number, n: number, { refuse = refuseToken }: Variant): void {
  const node = state.nodes[n]!;
  const client = state.clients[c]!;
  const link = client.links[n]!;
  const lease = node.owner < 0 ? undefined : { holderId: String(node.owner), fencingToken: node.own };
  const refused = refuse(lease, { holderId: String(c), fencingToken: link.asking });
  link.confirm = refused === undefined ? 'confirmed' : refused.kind === 'ahead' ? 'ahead' : 'refused';
  if (refused === undefined) {
    link.experience = node.memory;
    if (node.owner === c) link.stands = node.own = link.asking;
    node.fence = Math.max(node.fence, link.asking);
  }
  // Nobody listens any more.
  if (client.phase !== 'trying') link.confirm = 'none';
}

function hearConfirm(state: State, c: number, n: number, variant: Variant): void {
  const link = state.clients[c]!.links[n]!;
  if (link.confirm === 'confirmed') link.confirmed = link.asking;
  else if (link.confirm === 'refused') link.vote = 'refused';
  else link.asking = 0;
  link.confirm = 'none';
  proceed(state, c, variant);
}

/** What the client does next: exactly what the library decides. */
function proceed(state: State, c: number, { counts, experience = (one) => one }: Variant): void {
  const client = state.clients[c]!;
  if (client.phase !== 'trying') return;
  const voteOf = (link: Link): Vote => ({ ...link, state: link.vote, experience: experience(link.experience) });
  for (;;) {
    if (client.token > 0) {
      for (const link of client.links) if (needsConfirming(voteOf(link), client.token, counts)) sendConfirm(link, client.token);
    }
    const witnesses = client.links.flatMap(({ recall }) => (recall === 'none' || recall === 'asked' ? [] : [experience(recall)]));
    const { recall } = client;
    const step = decide(client.links.map(voteOf), client.token, { patient: false, witnesses, recall, ...(counts ? { counts } : {}) });
    if (step.do === 'succeed') succeed(state, c);
    else if (step.do === 'give-up') end(client);
    else if (step.do === 'recall') {
      client.recall = 'asked';
      for (const link of client.links) if (link.confirmed !== client.token) link.recall = 'asked';
    }
    if (step.do !== 'propose') return;
    client.token = step.token;
  }
}

function succeed(state: State, c: number): void {
  const client = state.clients[c]!;
  if (client.token <= state.last) throw new Violation(`${'AB'[c]!} returns ${client.token} after ${state.last} was returned`);
  if (state.clients.some(({ phase }) => phase === 'holding')) throw new Violation('both hold');
  state.last = client.token;
  client.phase = 'holding';
  for (const link of client.links) if (link.confirm !== 'sent') link.confirm = 'none';
}

function end(client: Client): void {
  client.phase = 'over';
  for (const link of client.links) {
    if (link.acquire === 'granted') link.acquire = 'told';
    if (link.confirm !== 'sent') link.confirm = 'none';
  }
}

function free(state: State, n: number): void {
  state.nodes[n]!.owner = -1;
}

function copy(state: State): State {
  return {
    nodes: state.nodes.map((node) => ({ ...node })),
    clients: state.clients.map((client) => ({ ...client, links: client.links.map((link) => ({ ...link })) })),
    losses: state.losses,
    restarts: state.restarts,
    last: state.last,
  };
}

/** The same for states between which nothing that may still happen can tell: nodes and clients have no names. */
function keyOf({ nodes, clients, losses, restarts, last }: State): string {
  const seenBy = (first: number): string => {
    const order = [clients[first]!, clients[1 - first]!] as const;
    const columns = nodes.map(({ owner, own, fence, memory, waitsFor }, n) => {
      if (fence >= TOKENS) throw new Error(`The model has room for tokens below ${TOKENS}.`);
      const lease = owner < 0 ? 0 : 1 + Number(owner !== first) + 2 * own;
      const waits = memory === 'abstaining' ? Number(waitsFor[first]) + 2 * Number(waitsFor[1 - first]) : 0;
      return pack(lease, 32, fence, TOKENS, EXPERIENCE[memory], 3, waits, 4, keyOfLink(order[0], n), LINKS, keyOfLink(order[1], n), LINKS);
    });
    columns.sort((x, y) => x - y);
    const phases = order.map(({ phase, token, recall }) => {
      if (phase === 'over') return phase;
      return phase === 'trying' ? `${token}${recall}` : `${phase}${token}`;
    });
    return `${columns[0]!},${columns[1]!},${columns[2]!},${phases[0]!},${phases[1]!}`;
  };
  const [one, other] = [seenBy(0), seenBy(1)];
  return `${one < other ? one : other},${losses},${restarts},${last}`;
}

/** One number for several: each with the number of values that it can have. */
function pack(...parts: readonly number[]): number {
  let packed = 0;
  for (let i = 0; i < parts.length; i += 2) packed = packed * parts[i + 1]! + parts[i]!;
  return packed;
}

const TOKENS = 8;
const LINKS = 3 * 3 * 5 * 2 * 3 * 5 * TOKENS ** 3;
const ACQUIRE = { sent: 0, granted: 1, told: 2 };
const VOTE = { asked: 0, granted: 1, refused: 2 };
const CONFIRM = { none: 0, sent: 1, confirmed: 2, refused: 3, ahead: 4 };
const EXPERIENCE = { experienced: 0, young: 1, abstaining: 2 };
const RECALL = { ...EXPERIENCE, none: 3, asked: 4 };

function keyOfLink({ phase, links }: Client, n: number): number {
  const { acquire, vote, granted, asking, confirmed, confirm, stands, experience, recall } = links[n]!;
  if (phase === 'trying') {
    const told = pack(EXPERIENCE[experience], 3, RECALL[recall], 5, ACQUIRE[acquire], 3, VOTE[vote], 3, CONFIRM[confirm], 5);
    return pack(told, 3 * 5 * 3 * 3 * 5, Number(stands > 0), 2, granted, TOKENS, asking, TOKENS, confirmed, TOKENS);
  }
  // Who does not try any more only sees what is under way, and a holder which of his leases stand.
  const sent = pack(ACQUIRE[acquire] === 0 ? 1 : 0, 2, confirm === 'sent' ? asking : 0, TOKENS);
  if (phase === 'over') return sent;
  return pack(sent, 2 * TOKENS, acquire === 'granted' ? granted : 0, TOKENS, Number(stands > 0), 2);
}
