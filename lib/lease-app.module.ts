import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { LeaseCronModule } from './cron/lease-cron.module.js';
import { LeaseDiscoveryModule } from './discovery/lease-discovery.module.js';
import { ClientContext } from './execution/client-context.js';
import { LeaseContext } from './execution/lease-context.js';
import { LeaseHttpInterceptor } from './execution/lease-http.interceptor.js';
import { LeaseServices } from './service/lease-services.js';

/** What exists once in an application, however many lease services it has. Imported by `LeaseModule`, not by users. */
@Module({
  imports: [LeaseDiscoveryModule, LeaseCronModule],
  providers: [LeaseContext, ClientContext, LeaseServices, { provide: APP_INTERCEPTOR, useClass: LeaseHttpInterceptor }],
  exports: [LeaseContext, ClientContext, LeaseServices, LeaseCronModule],
})
export class LeaseAppModule {}
