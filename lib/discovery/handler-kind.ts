import 'reflect-metadata';
import type { AnyMethod } from '../metadata/member.js';

/** What Nest and its queue packages leave on a handler function: matched by key, so that none of them has to be installed. */
const ON_METHOD: readonly (readonly [key: string, kind: string])[] = [
  ['method', 'an HTTP handler'],
  ['microservices:pattern', 'a message handler'],
  ['bull:module_queue_process', 'a queue handler'],
];
/** `@Processor()` of `@nestjs/bullmq` stands on the class, whose method is always called `process`. */
const BULLMQ_PROCESSOR = 'bullmq:processor_metadata';

/** How a method is called from outside, where a call that returns nothing counts as done; `undefined` for all others. */
export function successKind(leaf: object, name: string | symbol, functions: readonly (AnyMethod | undefined)[]): string | undefined {
  for (const [key, kind] of ON_METHOD) {
    if (functions.some((method) => method !== undefined && Reflect.hasMetadata(key, method))) return kind;
  }
  return name === 'process' && Reflect.hasMetadata(BULLMQ_PROCESSOR, leaf.constructor) ? 'a queue handler' : undefined;
}
