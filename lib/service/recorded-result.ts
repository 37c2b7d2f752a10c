import { EffectResultError } from '../errors/effect-result.error.js';
import { EffectUncertainError } from '../errors/effect-uncertain.error.js';
import type { EffectRecord } from '../stores/effect-store.js';

/** A result is for repeats to go on with, not a store of documents. */
const MOST_BYTES = 65_536;
/** The reason that is kept in place of a result. */
const LONGEST_REASON = 300;

/** The text of a result that repeats are given, or why there can be none. `undefined` is kept as the empty text, which is no JSON. */
export function textOfResult(value: unknown): { readonly text: string } | { readonly reason: string } {
  if (value === undefined) return { text: '' };
  let text: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    return { reason: `JSON cannot hold it (${String(error).slice(0, LONGEST_REASON)})` };
  }
  if (typeof text !== 'string') return { reason: `JSON cannot hold a ${typeof value}` };
  const bytes = Buffer.byteLength(text);
  return bytes > MOST_BYTES ? { reason: `it takes ${String(bytes)} bytes as JSON, and at most ${String(MOST_BYTES)} are kept` } : { text };
}

/** What JSON made of a result; every caller, the first one too, is given the same. */
export function resultOfText(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}

/** What a repeat is given. @throws EffectUncertainError, EffectResultError */
export function resultOf(key: string, { state, text, fencingToken, holder, started }: EffectRecord): unknown {
  if (state === 'done') return resultOfText(text);
  if (state === 'unusable') throw new EffectResultError(key, text);
  throw new EffectUncertainError(key, { fencingToken, holder, startedAt: started });
}
