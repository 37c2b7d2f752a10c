import type { ModulesContainer } from '@nestjs/core';
import { audited, instancesOf, prototypesOf, type Wrapper } from '../discovery/wrappers.js';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { ownMethod, prototypeChain, siteOf } from '../metadata/member.js';
import { jobsDeclaredAt } from './job-declaration.js';
import type { JobDefinition } from './job-definition.js';

/** A declared job on the instance it runs on. */
export interface FoundJob {
  readonly job: JobDefinition;
  readonly instance: object;
  readonly method: string | symbol;
  /** `Reports.nightly`. */
  readonly site: string;
  /** The module that provides it. */
  readonly module: string;
}

/** What a look through the application has found. */
export interface FoundJobs {
  readonly jobs: readonly FoundJob[];
  readonly warnings: readonly string[];
}

/**
 * Finds the declared jobs of the application.
 * @throws LeaseOptionsError for a job without one instance to run on, and for a name that two have
 */
export function findJobs(modules: ModulesContainer): FoundJobs {
  const found = new Map<string, FoundJob>();
  const warnings: string[] = [];
  for (const module of modules.values()) {
    for (const wrapper of audited(new Map([['', module]]) as unknown as ModulesContainer)) {
      for (const one of jobsOf(wrapper, module.name)) {
        const before = found.get(one.job.name);
        if (before === undefined) found.set(one.job.name, one);
        else if (before.instance !== one.instance || before.method !== one.method) throw duplicate(before, one);
        else
          warnings.push(`${one.site}, the job "${one.job.name}", is provided under two tokens (useExisting): it runs once all the same.`);
      }
    }
  }
  return { jobs: [...found.values()], warnings };
}

function jobsOf(wrapper: Wrapper, module: string): FoundJob[] {
  if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient) {
    for (const prototype of prototypesOf(wrapper)) refuseScoped(wrapper, prototype);
    return [];
  }
  return instancesOf(wrapper).flatMap((instance) => [...jobsOfInstance(instance, module)]);
}

/** Of the methods that count on this instance: an override hides what it overrides. */
function* jobsOfInstance(instance: object, module: string): Generator<FoundJob> {
  const leaf = Object.getPrototypeOf(instance) as object | null;
  const seen = new Set<string | symbol>();
  for (const prototype of prototypeChain(leaf)) {
    for (const method of Reflect.ownKeys(prototype)) {
      if (seen.has(method) || ownMethod(prototype, method) === undefined) continue;
      seen.add(method);
      const site = siteOf(leaf as object, method);
      for (const job of jobsDeclaredAt(prototype, method)) yield { job, instance, method, site, module };
    }
  }
}

function refuseScoped(wrapper: Wrapper, leaf: object): void {
  for (const prototype of prototypeChain(leaf)) {
    for (const method of Reflect.ownKeys(prototype)) {
      const [job] = jobsDeclaredAt(prototype, method);
      if (!job) continue;
      const why = wrapper.isTransient ? 'is transient' : 'is request-scoped, or injects something that is';
      throw new LeaseOptionsError(
        'scope',
        `${job.decorator} on ${siteOf(leaf, method)} would never run: the provider ${why}, so there is no one instance to run it on. ` +
          'Make it a singleton, and get what is request-scoped by ModuleRef.resolve() in the method.',
      );
    }
  }
}

function duplicate(one: FoundJob, two: FoundJob): LeaseOptionsError {
  const where = ({ site, module }: FoundJob): string => `${site} in ${module}`;
  const same = one.site === two.site;
  return new LeaseOptionsError(
    'name',
    `Two scheduled jobs have the name "${one.job.name}": ${where(one)} and ${where(two)}. ` +
      (same
        ? 'The class is provided twice: provide it in one module, export it there, and import that module.'
        : 'Give each a name of its own; a class that inherits a job overrides the method, with a decorator and a name of its own.'),
  );
}
