import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Auditor } from '../support/auditor.js';
import type { TestProcess } from '../support/process.js';
import { RedisServer } from '../support/redis-server.js';
import { startHolderProcess, startRival } from '../support/rival.js';

jest.setTimeout(30_000);

describe('processes that stop, stall and die', () => {
  let server: RedisServer;
  let auditor: Auditor;
  const started: TestProcess[] = [];
  const holder = (key: string, more: Partial<Parameters<typeof startHolderProcess>[1]> = {}): TestProcess => {
    const one = startHolderProcess(auditor, { url: server.url, name: 'holder', key, ttl: '1s', ...more });
    started.push(one);
    return one;
  };
  const rival = (key: string, more: Partial<Parameters<typeof startHolderProcess>[1]> = {}): TestProcess => {
    const one = startRival(auditor, { url: server.url, name: 'rival', key, ttl: '1s', ...more });
    started.push(one);
    return one;
  };

  beforeAll(async () => {
    [server, auditor] = await Promise.all([RedisServer.start(), Auditor.start()]);
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.kill()));
  });
  afterAll(async () => {
    await auditor.stop();
    await server.stop();
  });

  it('frozen for twice its ttl, the first thing a holder does is not a write (redis-semaphore#24, redbeat#218)', async () => {
    const a = holder('frozen');
    await a.message('writing');
    const b = rival('frozen');
    await b.message('ready');
    a.freeze();
    const frozenAt = performance.now();
    const { token } = await b.message('acquired');
    await b.message('writing');
    await sleep(2000 - (performance.now() - frozenAt));
    a.thaw();
    const stopped = await a.message('stopped');
    expect(stopped).toMatchObject({ code: 'LEASE_LOST', reason: 'expired', aborted: true });
    expect(await a.message('released')).toMatchObject({ freed: false, renewals: stopped.renewals });
    expect(token).toBeGreaterThan(a.of('acquired')[0]?.token);
    expect(auditor.interleaved('frozen')).toEqual([]);
  });

  it('with its event loop blocked for longer than its ttl, a holder writes nothing more (bull#308)', async () => {
    const a = holder('blocked');
    await a.message('writing');
    const b = rival('blocked');
    a.send({ type: 'block', ms: 1800 });
    await b.message('writing');
    await a.message('unblocked');
    expect(await a.message('stopped')).toMatchObject({ code: 'LEASE_LOST', reason: 'expired', aborted: true });
    await b.message('done');
    expect(auditor.interleaved('blocked')).toEqual([]);
    expect(a.of('unhandled')).toEqual([]);
    expect(a.running).toBe(true);
  });

  it('killed, a holder blocks nobody for longer than its ttl', async () => {
    const a = holder('killed');
    await a.message('writing');
    const b = rival('killed');
    await b.message('ready');
    await a.kill();
    const start = performance.now();
    const { token } = await b.message('acquired');
    expect(performance.now() - start).toBeLessThan(1000 + 400);
    expect(token).toBeGreaterThan(a.of('acquired')[0]?.token);
    await b.message('released');
    expect(auditor.interleaved('killed')).toEqual([]);
  });

  it('killed between any two steps, no key is left without an end (redis-py#818)', async () => {
    const [a, b, c] = [holder('step-1'), holder('step-2'), holder('step-3', { writes: 3 })];
    await Promise.all([a.message('acquired'), b.message('ready'), c.message('ready')]);
    await Promise.all([a.kill(), b.kill(), c.kill()]);
    const keys = await server.ask(
      'EVAL',
      "local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do if redis.call('PTTL', k) == -1 then n = n + 1 end end return n",
      '0',
    );
    expect(keys).toBe(':0\r\n');
  });

  it('a lease that is lost crashes no process, with nobody listening (node-redlock#283, redbeat#230, redis-semaphore#9)', async () => {
    const a = holder('crash', { everyMs: 50 });
    await a.message('writing');
    await server.ask('FLUSHALL');
    expect(await a.message('stopped')).toMatchObject({ code: 'LEASE_LOST' });
    await a.message('released');
    await sleep(50);
    expect(a.running).toBe(true);
    expect(a.of('unhandled')).toEqual([]);
    expect(a.output).toBe('');
  });
});
