import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Param, Post } from '@nestjs/common';
import { FencingToken, LeaseEvents, LeaseModule, WithLease, type AmnesiaEvent, type LeaseModuleOptions } from '../../../lib/index.js';
import { CapturedLog, startNest, type NestApp } from '../../support/nest-app.js';
import { RedisServer } from '../../support/redis-server.js';

@Controller('jobs')
class Jobs {
  @Post(':id')
  @WithLease('job:<id>', { ttl: 10 })
  async run(@Param('id') id: string, @FencingToken() token: number): Promise<string> {
    return Promise.resolve(`${id}:${String(token > 0)}`);
  }
}

describe('an application that is careful with Redis', () => {
  let server: RedisServer;
  let booted: NestApp | undefined;
  const log = new CapturedLog();
  beforeAll(async () => {
    server = await RedisServer.start({ args: ['--maxmemory-policy', 'allkeys-lru'] });
  });
  afterEach(async () => {
    await booted?.app.close();
    booted = undefined;
    log.lines.length = 0;
  });
  afterAll(() => server.stop());
  const boot = async (options: LeaseModuleOptions): Promise<NestApp> => {
    const imports = [LeaseModule.forRoot({ connection: server.url, ...options })];
    return (booted = await startNest({ imports, controllers: [Jobs] }, { logger: log }));
  };
  const post = async (): Promise<[number, unknown, string | null]> => {
    const answer = await fetch(`${booted?.url ?? ''}/jobs/7`, { method: 'POST' });
    const text = await answer.text();
    return [answer.status, text.startsWith('{') ? (JSON.parse(text) as unknown) : text, answer.headers.get('retry-after')];
  };

  it('answers 503 without a word on keys where replicas are missing, and is told in its log what the server is not set up for', async () => {
    await boot({ durability: { replicas: 1, timeout: '50ms' } });
    const [status, body] = await post();
    expect([status, body]).toEqual([503, { statusCode: 503, code: 'LEASE_NOT_DURABLE', message: expect.any(String) }]);
    expect(JSON.stringify(body)).not.toContain('job:7');
    expect(log.of('warn').filter((line) => line.includes('allkeys-lru'))).toEqual([expect.stringMatching(/"default".*noeviction/)]);
  });

  it('answers 503 with Retry-After while a Redis that has just come up may have forgotten holders, and tells of it', async () => {
    const { app } = await boot({ amnesiaGuard: '1h' });
    const told: AmnesiaEvent[] = [];
    app.get(LeaseEvents).on('amnesia', (event) => told.push(event));
    const [status, body, retryAfter] = await post();
    expect([status, body]).toMatchObject([503, { code: 'LEASE_UNAVAILABLE', retryAfterMs: expect.any(Number) }]);
    expect(Number(retryAfter)).toBeGreaterThan(3000);
    expect(told).toMatchObject([{ type: 'amnesia', reason: 'started' }]);
    expect(log.of('warn')).toContainEqual(expect.stringMatching(/started a short while ago.*No lease/));
  });

  it('runs as ever where nothing is amiss', async () => {
    await boot({});
    expect(await post()).toEqual([201, '7:true', null]);
  });
});
