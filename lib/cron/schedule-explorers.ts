import type { ModulesContainer } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';

/** The part of `ScheduleExplorer` that is used here. */
export interface ScheduleExplorerLike {
  /** Makes a job of the method, if one of the decorators of `@nestjs/schedule` stands on it. */
  lookupSchedulers(instance: object, key: string): void;
  readonly moduleOptions?: { readonly cronJobs?: boolean; readonly intervals?: boolean };
}

/** The explorer of the `ScheduleModule` whose registry this is. */
export function explorerOf(registry: SchedulerRegistry, modules: ModulesContainer): ScheduleExplorerLike | undefined {
  const [owner] = [...modules].filter(([, { providers }]) => providers.get(SchedulerRegistry)?.instance === registry);
  return owner && scheduleExplorers(new Map([owner]) as unknown as ModulesContainer)[0];
}

/** One for each `ScheduleModule.forRoot()`, by shape: 6.x, for NestJS 11, does not export the class. */
export function scheduleExplorers(modules: ModulesContainer): ScheduleExplorerLike[] {
  const ofSchedule = [...modules.values()].filter(({ metatype }) => metatype === ScheduleModule);
  return ofSchedule.flatMap(({ providers }) => [...providers.values()].map(({ instance }): unknown => instance).filter(isExplorer));
}

function isExplorer(instance: unknown): instance is ScheduleExplorerLike {
  return (
    typeof instance === 'object' && instance !== null && 'lookupSchedulers' in instance && typeof instance.lookupSchedulers === 'function'
  );
}
