import 'reflect-metadata';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { DEFAULT_SERVICE } from '../lease.constants.js';
import { declarationsOn, declaredAt, type LeaseDeclaration } from '../metadata/declaration.js';
import { ownMethod, prototypeChain, siteOf, type AnyMethod } from '../metadata/member.js';
import { parseTtl } from '../time/lease-durations.js';
import { refuseOrphans, refuseUnusedKeyParts } from './audit-parameters.js';
import { successKind } from './handler-kind.js';
import type { Executors } from './registrations.js';

const SHORT_TTL_MS = 1000;

/**
 * Looks at every method of a class and of its bases.
 * @returns warnings
 * @throws LeaseOptionsError where a lease was declared but would not be taken as declared
 */
export function auditClass(leaf: object, executors: Executors): string[] {
  const warnings: string[] = [];
  /** The prototype whose method runs, by name. */
  const effective = new Map<string | symbol, object>();
  const unleased = new Set<string | symbol>();
  for (const prototype of prototypeChain(leaf)) {
    for (const name of Reflect.ownKeys(prototype)) {
      if (name === 'constructor') continue;
      const method = ownMethod(prototype, name);
      const declared = declaredAt(prototype, name);
      const leased = declared.length > 0 || (method !== undefined && declarationsOn(method).length > 0);
      if (!leased) refuseOrphans(prototype, name);
      if (!leased && !effective.has(name)) unleased.add(name);
      if (leased && unleased.has(name)) throw dropped(prototype, name, effective.get(name) ?? leaf);
      if (!effective.has(name)) effective.set(name, prototype);
      if (declared.length > 0) refuseUnusedKeyParts(prototype, name, declared);
      for (const declaration of declared) {
        refuseLost(declaration, declared, method);
        warnings.push(...auditDeclaration(declaration, leaf, method, executors));
      }
    }
  }
  return warnings;
}

function auditDeclaration(declaration: LeaseDeclaration, leaf: object, method: AnyMethod | undefined, executors: Executors): string[] {
  const { decorator, site, service, options, skipsInSilence, key } = declaration;
  if (!executors.has(service)) throw new LeaseOptionsError('service', unknownService(decorator, site, service, executors));
  key.check();
  const kind = skipsInSilence ? successKind(leaf, declaration.method, [method, declaration.wrapper]) : undefined;
  if (kind !== undefined) {
    throw new LeaseOptionsError(
      'skipValue',
      `${site} is ${kind} with onBusy: 'skip' and no skipValue: whoever asked would take the silence for success. Give a skipValue, or leave onBusy at 'throw'.`,
    );
  }
  if (options.ttl === undefined || parseTtl(options.ttl) >= SHORT_TTL_MS) return [];
  return [
    `${decorator} on ${site}: a ttl of ${String(options.ttl)} is below 1 s; a short pause of the process or the store loses the lease.`,
  ];
}

function unknownService(decorator: string, site: string, service: string, executors: Executors): string {
  const wanted = service === DEFAULT_SERVICE ? 'the lease service without a name' : `the lease service "${service}"`;
  const names = [...executors.keys()].map((name) => (name === DEFAULT_SERVICE ? '(without a name)' : `"${name}"`)).join(', ');
  const module = service === DEFAULT_SERVICE ? 'LeaseModule.forRoot()' : `LeaseModule.forRoot({ name: '${service}' })`;
  return `${decorator} on ${site} asks ${wanted}, which no module registered. Import ${module}, or name one of: ${names}.`;
}

function dropped(base: object, name: string | symbol, override: object): LeaseOptionsError {
  return new LeaseOptionsError(
    'override',
    `${siteOf(override, name)} overrides ${siteOf(base, name)}, which takes a lease, but takes none itself: decorators are not inherited by an override. ` +
      'Put @WithLease on the override too (a call of super then shares its lease).',
  );
}

/** The function on the class is neither what the decorators left there nor one that carries our metadata. */
function refuseLost(
  { decorator, site, inPlace }: LeaseDeclaration,
  declared: readonly LeaseDeclaration[],
  method: AnyMethod | undefined,
): void {
  if (method !== undefined && (method === inPlace() || declared.every((each) => declarationsOn(method).includes(each)))) return;
  throw new LeaseOptionsError(
    decorator,
    `${decorator} on ${site} has been lost: the method was replaced after it was decorated, so nothing tells that a lease is still taken. ` +
      `Put ${decorator} above the decorator that replaces the method, let that one copy the method's Reflect metadata, or do not patch the class.`,
  );
}
