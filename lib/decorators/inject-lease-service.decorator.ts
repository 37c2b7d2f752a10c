import { Inject } from '@nestjs/common';
import { getLeaseServiceToken } from '../lease.constants.js';

/**
 * Injects the `LeaseService` that `LeaseModule.forRoot({ name })` registered under this name; without a name, the default one.
 */
export const InjectLeaseService = (name?: string): PropertyDecorator & ParameterDecorator => Inject(getLeaseServiceToken(name));
