import { NestFactory } from '@nestjs/core';
import assert from 'node:assert/strict';

const saved: number[] = [];
let finish = (): void => undefined;
let begin = (): void => undefined;
const begun = new Promise<void>((resolve) => (begin = resolve));

export async function work(_id: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  begin();
  await new Promise<void>((resolve) => (finish = resolve));
}

export async function save(_id: string, token: number): Promise<void> {
  saved.push(token);
}

export async function check({ AppModule }: Record<string, any>): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  const post = async (): Promise<Response> => fetch(`${await app.getUrl()}/jobs/42/run`, { method: 'POST' });
  const running = post();
  await begun;
  const refused = await post();
  assert.equal(refused.status, 409);
  assert.equal(refused.headers.get('retry-after'), '60');
  assert.equal(((await refused.json()) as { code: string }).code, 'LEASE_BUSY');
  finish();
  assert.deepEqual(await (await running).json(), { done: '42' });
  assert.equal(saved.length, 1);
  assert.ok(Number.isSafeInteger(saved[0]));
  await app.close();
}
