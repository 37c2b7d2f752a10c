import { afterEach, describe, expect, it } from '@jest/globals';
import { UseFilters } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Test } from '@nestjs/testing';
import type { INestApplication } from '@nestjs/common';
import { once } from 'node:events';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { LeaseModule, LeaseService, MemoryLeaseStore, WithLease } from '../../../lib/index.js';
import { LeaseWsExceptionFilter } from '../../../lib/websockets/index.js';
import { CapturedLog } from '../../support/nest-app.js';

@WebSocketGateway()
@UseFilters(LeaseWsExceptionFilter)
class Jobs {
  @SubscribeMessage('run')
  @WithLease('job:<id>')
  async run(@MessageBody('id') id: string): Promise<object> {
    if (id === 'own') throw new Error('own error');
    return Promise.resolve({ event: 'ran', data: id });
  }
}

const refused = {
  status: 'error',
  code: 'LEASE_BUSY',
  message: expect.not.stringMatching(/job:1|web-1/),
  retryAfterMs: expect.any(Number),
};

describe('LeaseWsExceptionFilter', () => {
  let app: INestApplication;
  const boot = async (ws: boolean): Promise<string> => {
    const imports = [LeaseModule.forRoot({ store: new MemoryLeaseStore(), shutdownGrace: '50ms', holder: 'web-1' })];
    const module = await Test.createTestingModule({ imports, providers: [Jobs] })
      .setLogger(new CapturedLog())
      .compile();
    app = module.createNestApplication();
    if (ws) app.useWebSocketAdapter(new WsAdapter(app));
    await app.listen(0, '127.0.0.1');
    return app.getUrl();
  };
  afterEach(() => app.close());

  it('answers on socket.io with code and retryAfterMs, and neither key nor holder (Locker#19)', async () => {
    const socket = io(await boot(false), { transports: ['websocket'] });
    const ask = async (event: string, id: string): Promise<unknown> => {
      const answer = new Promise((resolve) => socket.once(event, resolve));
      socket.emit('run', { id });
      return answer;
    };
    expect(await ask('ran', '1')).toBe('1');
    await using _lease = await app.get(LeaseService).acquire('job:1', { ttl: 5 });
    expect(await ask('exception', '1')).toEqual(refused);
    expect(await ask('exception', 'own')).toMatchObject({ message: 'Internal server error' });
    socket.disconnect();
  });

  it('answers on ws likewise', async () => {
    const socket = new WebSocket((await boot(true)).replace('http', 'ws'));
    await once(socket, 'open');
    const ask = async (id: string): Promise<unknown> => {
      socket.send(JSON.stringify({ event: 'run', data: { id } }));
      const [message] = (await once(socket, 'message')) as [Buffer];
      return JSON.parse(message.toString());
    };
    expect(await ask('1')).toEqual({ event: 'ran', data: '1' });
    await using _lease = await app.get(LeaseService).acquire('job:1', { ttl: 5 });
    expect(await ask('1')).toEqual({ event: 'exception', data: refused });
    socket.terminate();
  });
});
