import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { auditClass } from './audit-class.js';
import { bindInstances } from './bind-instances.js';
import { findDuplicateRegistrations, registeredExecutors } from './registrations.js';
import { audited, prototypesOf } from './wrappers.js';

/**
 * Looks through the application at start-up: binds the instances that Nest did not make, and fails where a lease was declared but
 * would not be taken. It never wraps a method: Nest has read the routes by then.
 */
@Injectable()
export class LeaseExplorer implements OnModuleInit {
  private readonly logger = new Logger('LeaseModule');

  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {}

  /** @throws LeaseOptionsError for the first mistake found */
  onModuleInit(): void {
    const duplicate = findDuplicateRegistrations(this.modules)[0];
    if (duplicate) throw duplicate;
    const executors = registeredExecutors(this.modules);
    const seen = new Set<object>();
    const warnings = new Set<string>();
    for (const wrapper of audited(this.modules)) {
      for (const prototype of prototypesOf(wrapper)) {
        if (!seen.has(prototype)) for (const warning of auditClass(prototype, executors)) warnings.add(warning);
        seen.add(prototype);
      }
      bindInstances(wrapper, executors);
    }
    for (const warning of warnings) this.logger.warn(warning);
  }
}
