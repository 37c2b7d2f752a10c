import type { DynamicModule, INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** Starts an app on a port of this machine (0: any free one), without Nest's own start-up lines. */
export async function listen(module: DynamicModule, port: number): Promise<{ app: INestApplication; url: string }> {
  const app = await NestFactory.create(module, { logger: ['fatal'], abortOnError: false });
  await app.listen(port, '127.0.0.1');
  return { app, url: await app.getUrl() };
}
