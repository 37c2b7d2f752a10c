import { expect, it } from '@jest/globals';
import { createRequire } from 'node:module';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import request from 'supertest';
import type { App } from 'supertest/types.js';
import { LeaseBusyError } from '../../lib/errors/lease-busy.error.js';

@Controller()
class BusyController {
  @Get()
  busy(): never {
    throw new LeaseBusyError('job:42');
  }
}

it('this run uses NestJS 11, schedule 6 and ioredis 5', () => {
  const require = createRequire(import.meta.url);
  const major = (name: string): number => Number.parseInt((require(`${name}/package.json`) as { version: string }).version, 10);
  const nest = ['common', 'core', 'testing', 'microservices', 'websockets', 'swagger', 'platform-express', 'platform-fastify'];
  expect(nest.map((name) => major(`@nestjs/${name}`))).toEqual(nest.map(() => 11));
  expect([major('@nestjs/schedule'), major('ioredis')]).toEqual([6, 5]);
});

it('an error of the library is an HttpException of that NestJS', async () => {
  const testing = await Test.createTestingModule({ controllers: [BusyController] }).compile();
  const app: INestApplication<App> = testing.createNestApplication();
  await app.init();
  const response = await request(app.getHttpServer()).get('/');
  expect(response.status).toBe(409);
  await app.close();
});

it('`import` and `require` give the client of ioredis 5', () => {
  const require = createRequire(import.meta.url);
  expect((require('ioredis') as { Redis: unknown }).Redis).toBe(Redis);
});
