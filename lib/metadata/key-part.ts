import { LeaseKeyError } from '../errors/lease-key.error.js';

/** What the messages and the encoding need to know of the template that a value goes into. */
export interface PartContext {
  readonly source: string;
  /** Characters that a value may not contain as they are, besides those that are always encoded. */
  readonly reserved: string;
}

/**
 * Writes one value as a part of a key. Strings, finite numbers, bigints and booleans count; everything but letters, digits and
 * `-_.!~*'()` becomes `%XX`, and so do the separators of the template.
 * @throws LeaseKeyError
 */
export function encodeKeyPart(value: unknown, context: PartContext, name: string): string {
  const encoded = encodeText(textOf(value, context, name), context, name);
  if (context.reserved === '') return encoded;
  let part = '';
  for (const char of encoded) part += char !== '%' && context.reserved.includes(char) ? percent(char) : char;
  return part;
}

function textOf(value: unknown, context: PartContext, name: string): string {
  switch (typeof value) {
    case 'string':
      if (value === '') throw refuse(context, name, 'an empty string');
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw refuse(context, name, String(value));
      return String(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      throw refuse(context, name, describe(value));
  }
}

function encodeText(text: string, context: PartContext, name: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // Half of a surrogate pair: stores would turn all of these into one and the same replacement character.
    throw refuse(context, name, 'a string that is not well-formed Unicode');
  }
}

const percent = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

function describe(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return value instanceof Date ? 'a Date' : 'an object';
  return `a ${typeof value}`;
}

function refuse(context: PartContext, name: string, what: string): LeaseKeyError {
  return new LeaseKeyError(
    `The value for <${name}> of the lease key '${context.source}' is ${what}: it must be a non-empty string, a number, a bigint or a boolean.`,
  );
}
