import { LeaseKeyError } from '../errors/lease-key.error.js';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { encodeKeyPart } from './key-part.js';

/** A `<name>` of a template: a name or position, and the path of own properties that leads on from it. */
export interface Placeholder {
  /** As written between the brackets: `user.id`. */
  readonly text: string;
  /** The first step: `user`, or `0`. */
  readonly head: string;
  /** The further steps: `['id']`. */
  readonly path: readonly string[];
  /** Index of the argument, if the head is a number. */
  readonly position: number | undefined;
}

/** A template that was read: literal text and placeholders in their order. */
export interface KeyTemplate {
  readonly source: string;
  readonly parts: readonly (string | Placeholder)[];
  readonly placeholders: readonly Placeholder[];
  /** Characters between two placeholders: a value's own ones are encoded, so that `a-b` + `c` and `a` + `b-c` differ. */
  readonly reserved: string;
}

const HEAD = /^(?:0|[1-9]\d{0,3}|[\p{L}_$][\p{L}\p{N}_$-]*)$/u;
const STEP = /^[\p{L}\p{N}_$][\p{L}\p{N}_$-]*$/u;
const TOKEN = /<<|>>|\{\{|\}\}|<([^<>{}]*)>|\{([^<>{}]*)\}|[<>{}]/g;

/**
 * Reads `job:<id>`. `<id>` and `{id}` are the same; a literal bracket is written twice (`<<`, `>>`, `{{`, `}}`).
 * @throws LeaseOptionsError for an empty template, a stray bracket, a bad name, or two placeholders with no separator between them.
 */
export function parseKeyTemplate(source: string): KeyTemplate {
  if (source === '') throw refuse(source, "it is empty; write a key such as 'job:<id>'");
  const parts = splitParts(source);
  const placeholders = parts.filter((part) => typeof part !== 'string');
  return { source, parts, placeholders, reserved: separators(source, parts) };
}

function splitParts(source: string): (string | Placeholder)[] {
  const parts: (string | Placeholder)[] = [];
  let literal = '';
  let end = 0;
  for (const match of source.matchAll(TOKEN)) {
    literal += source.slice(end, match.index);
    end = match.index + match[0].length;
    const name = match[1] ?? match[2];
    if (name !== undefined) {
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(readPlaceholder(source, name));
    } else if (match[0].length === 2) {
      literal += match[0].charAt(0);
    } else {
      throw refuse(source, `the "${match[0]}" has no partner; a literal one is written twice ("${match[0]}${match[0]}")`);
    }
  }
  literal += source.slice(end);
  if (literal !== '') parts.push(literal);
  return parts;
}

function readPlaceholder(source: string, text: string): Placeholder {
  const [head = '', ...path] = text.split('.');
  if (!HEAD.test(head) || !path.every((step) => STEP.test(step))) {
    throw refuse(source, `"${text}" is no name; write a name (<id>), a position (<0>) or a path (<user.id>, <0.id>)`);
  }
  return { text, head, path, position: /^\d/.test(head) ? Number(head) : undefined };
}

/** Injective only if no value can contain what stands between two placeholders: at least one character there is kept out of values. */
function separators(source: string, parts: readonly (string | Placeholder)[]): string {
  let reserved = '';
  parts.forEach((part, i) => {
    if (typeof part !== 'string') {
      if (i > 0 && typeof parts[i - 1] !== 'string')
        throw refuse(source, 'two placeholders stand side by side; put a separator such as ":" between them');
    } else if (i > 0 && i < parts.length - 1) {
      const marks = part.replace(/[A-Za-z0-9%]/g, '');
      if (marks === '')
        throw refuse(source, `"${part}" cannot separate two placeholders, since a value may contain it; add a separator such as ":"`);
      reserved += marks;
    }
  });
  return reserved;
}

function refuse(source: string, why: string): LeaseOptionsError {
  return new LeaseOptionsError('key', `The key template '${source}' cannot be read: ${why}.`);
}

/**
 * Fills a template in; `read` gives the value of each placeholder.
 * @throws LeaseKeyError for a value that is no part of a key.
 */
export function renderKey(template: KeyTemplate, read: (placeholder: Placeholder) => unknown): string {
  let key = '';
  for (const part of template.parts) {
    key += typeof part === 'string' ? part : encodeKeyPart(read(part), template, part.text);
  }
  return key;
}

/** Follows own properties only: what an object inherits (`constructor`, `toString`) is never a value. `undefined` where the path ends. */
export function readPath(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || step === '__proto__' || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string, unknown>)[step];
  }
  return current;
}

/**
 * The key that `@WithLease(template)` makes of the same values, for imperative code:
 * `leases.acquire(leaseKey('job:<id>', { id }))`. Values are found by name (`<id>`), path (`<user.id>`) or, in an array, position (`<0>`).
 * @throws LeaseKeyError when a value is missing, `''`, NaN, or an object. LeaseOptionsError when the template cannot be read.
 */
export function leaseKey(template: string, values: Readonly<Record<string, unknown>> | readonly unknown[] = {}): string {
  if (typeof template !== 'string')
    throw new LeaseKeyError(`The key template is ${String(template)}: it must be a string such as 'job:<id>'.`);
  return renderKey(parseKeyTemplate(template), ({ head, path }) => readPath(values, [head, ...path]));
}
