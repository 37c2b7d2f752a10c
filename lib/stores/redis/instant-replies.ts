import { StoreError } from '../lease-store.js';
import type { BeginReply, BeginRequest, DecidedState, InstantHolder, RunRecord, RunState } from '../instant-store.js';
import { unescapePart } from './keys.js';
import { foreign, readAcquire, unreadable } from './replies.js';

/**
 * Reply of `begin` for one instant.
 * @throws StoreError `foreign`, `floor`, `fatal`
 */
export function readBegin(reply: unknown, request: BeginRequest, lease: string, serverTimeMs: number): BeginReply {
  if (!Array.isArray(reply)) throw unreadable(reply);
  const [kind, other, ...rest] = reply as [string, string, ...unknown[]];
  const told = { serverTimeMs, ...(other === '' ? {} : { otherSchedule: other }) };
  switch (kind) {
    case 'granted': {
      const [fencingToken, previous, rerun] = rest as [number, number, number];
      return { kind, ...told, fencingToken, ttlMs: request.ttlMs, rerun: rerun === 1, ...(previous > 0 ? { previous } : {}) };
    }
    case 'early':
      return { kind, ...told, inMs: Number(rest[0]) };
    case 'running':
      return { kind, ...told, ...readHolder(rest) };
    case 'missed':
      return { kind, ...told, ...readHolder(rest), missed: Number(rest[4]) };
    case 'done': {
      const [state, token, about] = rest as [DecidedState, number, string];
      return { kind, ...told, state, ...(token > 0 ? { by: { fencingToken: token, ...readAbout(about) } } : {}) };
    }
    case 'foreign':
      throw foreign(lease, other);
    default:
      // The refusals of a grant are those of an acquire; any other is not understood there either.
      readAcquire(reply, request, lease, serverTimeMs);
      throw unreadable(reply);
  }
}

/**
 * One text of the reply of `history`.
 * @throws StoreError `foreign`
 */
export function readRun(text: unknown): RunRecord {
  const match = RUN.exec(String(text));
  if (!match)
    throw new StoreError('foreign', `the history of a job in Redis holds something that is not a run: ${String(text).slice(0, 80)}`);
  const [, instant, state, token, started, ended, missed, about] = match as unknown as string[];
  return {
    instant: Number(instant),
    state: state as RunState,
    fencingToken: Number(token),
    started: Number(started),
    ...(ended === '-' ? {} : { ended: Number(ended) }),
    missed: Number(missed),
    ...readAbout(about as string),
  };
}

const RUN = /^(\d+) ([a-z]+) (\d+) (\d+) (\d+|-) (\d+) (.*)$/s;

function readHolder(rest: unknown[]): InstantHolder & { remainingMs: number } {
  const [remainingMs, fencingToken, tag, holder] = rest as [number, number, string, string];
  return { remainingMs, fencingToken, holder, holderTag: unescapePart(tag) };
}

function readAbout(about: string): { holder: string; holderTag: string } {
  const space = about.indexOf(' ');
  return { holderTag: unescapePart(about.slice(0, space)), holder: about.slice(space + 1) };
}
