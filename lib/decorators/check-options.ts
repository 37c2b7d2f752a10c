import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { nearestName } from '../errors/nearest-name.js';
import { parseMaxHold, parseTtl, parseWait } from '../time/lease-durations.js';
import type { WithLeaseOptions } from './with-lease-options.js';

const NAMES = [
  'ttl',
  'wait',
  'maxHold',
  'onBusy',
  'skipValue',
  'reentry',
  'service',
  'returns',
] as const satisfies readonly (keyof WithLeaseOptions)[];

/**
 * Checks the options of a decorator where it stands.
 * @throws LeaseOptionsError naming the option, the value and what to write instead.
 */
export function checkOptions(decorator: string, options: unknown): WithLeaseOptions {
  if (options === undefined) return {};
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new LeaseOptionsError(
      'options',
      `The options of ${decorator} are ${Array.isArray(options) ? 'an array' : show(options)}: give an object such as { ttl: 60 }, or leave them out.`,
    );
  }
  for (const name of Object.keys(options)) if (!(NAMES as readonly string[]).includes(name)) throw unknownOption(decorator, name);
  const { ttl, wait, maxHold, onBusy, reentry, service, returns } = options as WithLeaseOptions;
  if (ttl !== undefined) parseTtl(ttl);
  if (wait !== undefined) parseWait(wait);
  if (maxHold !== undefined) parseMaxHold(maxHold);
  oneOf('onBusy', onBusy, ['throw', 'skip']);
  oneOf('reentry', reentry, ['join', 'error']);
  oneOf('returns', returns, ['observable', 'iterable']);
  const name: unknown = service;
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw new LeaseOptionsError(
      'service',
      `The option "service" is ${show(name)}: give the name of a service, as in LeaseModule.forRoot({ name }).`,
    );
  }
  if ('skipValue' in options && onBusy !== 'skip') {
    throw new LeaseOptionsError(
      'skipValue',
      `The option "skipValue" is given, but onBusy is ${onBusy === undefined ? 'left out' : `'${onBusy}'`}: add onBusy: 'skip', or remove it.`,
    );
  }
  return options;
}

function oneOf(option: string, value: unknown, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value as string)) return;
  throw new LeaseOptionsError(
    option,
    `The option "${option}" is ${show(value)}: it must be ${allowed.map((name) => `'${name}'`).join(' or ')}.`,
  );
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function unknownOption(decorator: string, name: string): LeaseOptionsError {
  const near = nearestName(name, NAMES);
  return new LeaseOptionsError(
    name,
    `${decorator} has no option "${name}": ${near ? `did you mean "${near}"?` : `it has ${NAMES.join(', ')}.`}`,
  );
}
