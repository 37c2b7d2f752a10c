import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Param, StreamableFile } from '@nestjs/common';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { LeaseModule, LeaseService, MemoryLeaseStore, WithLease } from '../../../lib/index.js';
import { startNest, type NestApp } from '../../support/nest-app.js';
import { waitFor } from '../../support/wait-for.js';

@Controller()
class Files {
  static stream: Readable;

  @Get('file/:id')
  @WithLease('file:<id>', { ttl: '300ms' })
  async file(@Param('id') _id: string): Promise<StreamableFile> {
    return Promise.resolve(new StreamableFile(Files.stream));
  }

  @Get('bytes/:id')
  @WithLease('file:<id>')
  async bytes(@Param('id') _id: string): Promise<StreamableFile> {
    return Promise.resolve(new StreamableFile(Buffer.from('abc')));
  }
}

describe.each(['express', 'fastify'] as const)('a StreamableFile under a lease on %s', (adapter) => {
  let booted: NestApp;
  let leases: LeaseService;
  const held = async (): Promise<boolean> => (await leases.inspect('file:1')) !== undefined;

  beforeEach(async () => {
    Files.stream = new Readable({ read: () => undefined });
    const store = new MemoryLeaseStore();
    booted = await startNest({ imports: [LeaseModule.forRoot({ store, shutdownGrace: '50ms' })], controllers: [Files] }, { adapter });
    leases = booted.app.get(LeaseService);
  });
  afterEach(() => booted.app.close());

  /** The answer once its first bytes have come. */
  async function begin(): Promise<IncomingMessage> {
    Files.stream.push('first');
    const [answer] = (await once(get(`${booted.url}/file/1`), 'response')) as [IncomingMessage];
    answer.on('error', () => undefined);
    answer.setEncoding('utf8');
    return answer;
  }

  it('is held, and renewed, until the file has been sent', async () => {
    const answer = await begin();
    let text = '';
    answer.on('data', (part: string) => (text += part));
    await new Promise((resolve) => setTimeout(resolve, 450));
    expect(await held()).toBe(true);
    Files.stream.push(' last');
    Files.stream.push(null);
    await once(answer, 'end');
    expect(text).toBe('first last');
    await waitFor(async () => !(await held()));
    expect(await (await fetch(`${booted.url}/bytes/1`)).text()).toBe('abc');
    await waitFor(async () => !(await held()));
  });

  it('is given back when the client goes away', async () => {
    const answer = await begin();
    expect(await held()).toBe(true);
    answer.destroy();
    await waitFor(async () => !(await held()));
  });

  it('is cut off when the lease is lost, so that no client takes a part for the whole', async () => {
    const answer = await begin();
    const closed = new Promise<boolean>((resolve) => answer.once('close', () => resolve(answer.complete)));
    answer.resume();
    await leases.forceRelease('file:1');
    expect(await closed).toBe(false);
  });
});
