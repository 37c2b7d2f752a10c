import { Global, Module } from '@nestjs/common';
import { LeaseExplorer } from './lease.explorer.js';

/**
 * The start-up audit. Global, though it exports nothing: Nest runs the init hooks of global modules first, so that the instances of
 * factories are bound before any `onModuleInit` of the application calls them.
 */
@Global()
@Module({ providers: [LeaseExplorer] })
export class LeaseDiscoveryModule {}
