import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { markKeyPart } from '../metadata/parameter-slots.js';

/**
 * Says that this parameter is `<name>` of the method's key template; it comes before every other rule.
 * @throws LeaseOptionsError for an empty name, two parameters of one name, static methods and constructors.
 */
export function LeaseKey(name: string): ParameterDecorator {
  if (typeof name !== 'string' || name === '' || /[<>{}.]/.test(name)) {
    throw new LeaseOptionsError(
      '@LeaseKey',
      `The name given to @LeaseKey is ${typeof name === 'string' ? `'${name}'` : String(name)}: write the name in the template's brackets, such as @LeaseKey('id') for <id>.`,
    );
  }
  return (target, method, index) => {
    markKeyPart('@LeaseKey', target, method, index, name);
  };
}
