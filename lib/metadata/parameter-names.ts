import { matchingEnd, skipOpaque } from './source-scan.js';

/** One parameter as it stands in the source. */
export interface SourceParameter {
  /** `undefined` where it is destructured. */
  readonly name: string | undefined;
  /** A rest parameter: it takes any number of arguments. */
  readonly rest: boolean;
}

/** Names of one letter never count: a minifier gives them to anything. */
const USABLE_NAME = /^[\p{L}_$][\p{L}\p{N}_$]+$/u;
const NAME = /^[\p{L}_$][\p{L}\p{N}_$]*/u;

/**
 * Reads the parameters of a method from its source text.
 * @returns `undefined` when there is no source to read (a bound function, a Proxy, native code).
 */
export function sourceParameters(method: (...args: never[]) => unknown): readonly SourceParameter[] | undefined {
  const source = Function.prototype.toString.call(method);
  if (/\{\s*\[native code\]\s*\}$/.test(source)) return undefined;
  const arrow = /^(?:async\b\s*)?([\p{L}_$][\p{L}\p{N}_$]*)\s*=>/u.exec(source);
  if (arrow) return [{ name: arrow[1], rest: false }];
  const open = listStart(source);
  if (open === undefined) return undefined;
  const close = matchingEnd(source, open);
  if (close === undefined) return undefined;
  return splitList(source, open + 1, close).map(readParameter);
}

/** Whether a name from the source may be matched with a placeholder. */
export const isUsableName = (name: string | undefined): name is string => name !== undefined && USABLE_NAME.test(name);

/** The first parenthesis that does not belong to a computed method name or a comment. */
function listStart(source: string): number | undefined {
  for (let i = 0; i < source.length;) {
    const char = source.charAt(i);
    if (char === '(') return i;
    const after = char === '[' ? matchingEnd(source, i) : skipOpaque(source, i);
    if (after === undefined) return undefined;
    i = after > i ? after + (char === '[' ? 1 : 0) : i + 1;
  }
  return undefined;
}

function splitList(source: string, from: number, to: number): string[] {
  const list: string[] = [];
  let text = '';
  for (let i = from; i < to;) {
    const char = source.charAt(i);
    const end = '([{'.includes(char) ? (matchingEnd(source, i) ?? to) + 1 : skipOpaque(source, i);
    if (end > i) {
      if (!source.startsWith('/*', i) && !source.startsWith('//', i)) text += source.slice(i, end);
      i = end;
    } else {
      if (char === ',') {
        list.push(text);
        text = '';
      } else text += char;
      i += 1;
    }
  }
  if (text.trim() !== '') list.push(text);
  return list;
}

function readParameter(text: string): SourceParameter {
  const trimmed = text.trim();
  const rest = trimmed.startsWith('...');
  return { name: NAME.exec(rest ? trimmed.slice(3).trim() : trimmed)?.[0], rest };
}
