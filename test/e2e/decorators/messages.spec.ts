import { describe, expect, it } from '@jest/globals';
import { Controller, Injectable, type Type } from '@nestjs/common';
import { ClientProxyFactory, EventPattern, MessagePattern, Payload, Transport, type ClientProxy } from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { createServer, type AddressInfo } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { FencingToken, LeaseModule, LeaseService, MemoryLeaseStore, WithLease } from '../../../lib/index.js';
import { CapturedLog } from '../../support/nest-app.js';
import { waitFor } from '../../support/wait-for.js';
import { acquiredKeys, startLeases } from './rig.js';

interface Job {
  readonly id: string;
}

const seen: string[] = [];

@Controller()
class Above {
  @WithLease('message:<id>')
  @MessagePattern('above')
  async handle(@Payload('id') id: string, @FencingToken() token: number): Promise<string> {
    return Promise.resolve(`above ${id} ${String(token > 0)}`);
  }

  @WithLease('event:<0.id>')
  @EventPattern('event.above')
  async event(job: Job): Promise<void> {
    seen.push(`above ${job.id}`);
    return Promise.resolve();
  }

  @WithLease('first:<id>')
  @EventPattern('shared')
  async first(@Payload() job: Job): Promise<void> {
    seen.push(`first ${job.id}`);
    return Promise.resolve();
  }
}

@Controller()
class Below {
  @MessagePattern('below')
  @WithLease('message:<id>')
  async handle(@FencingToken() token: number, @Payload() job: Job): Promise<string> {
    return Promise.resolve(`below ${job.id} ${String(token > 0)}`);
  }

  @EventPattern('event.below')
  @WithLease('below:<id>')
  async event(@Payload() job: Job): Promise<void> {
    seen.push(`below ${job.id}`);
    return Promise.resolve();
  }

  @EventPattern('shared')
  @WithLease('second:<id>')
  async second(@Payload() job: Job): Promise<void> {
    seen.push(`second ${job.id}`);
    return Promise.resolve();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Service {
  readonly keys: string[];
  readonly leases: LeaseService;
  readonly client: ClientProxy;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startService(controllers: Type[]): Promise<Service> {
  const module = await Test.createTestingModule({
    imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })],
    controllers,
  }).compile();
  const app = module.createNestApplication();
  const options = { host: '127.0.0.1', port: await freePort() };
  app.connectMicroservice({ transport: Transport.TCP, options });
  await app.startAllMicroservices();
  await app.init();
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  await client.connect();
  const close = async (): Promise<void> => {
    await client.close();
    await app.close();
  };
  return { keys: acquiredKeys(app), leases: app.get(LeaseService), client, [Symbol.asyncDispose]: close };
}

describe('message handlers over TCP', () => {
  it('are called once for each message, with @WithLease above and below the pattern (nestjs-context-logger#18)', async () => {
    await using service = await startService([Above, Below]);
    const send = (pattern: string): Promise<unknown> => firstValueFrom(service.client.send(pattern, { id: '7' }));
    expect([await send('above'), await send('below')]).toEqual(['above 7 true', 'below 7 true']);
    expect(service.keys).toEqual(['message:7', 'message:7']);
  });

  it('get events in both orders, and two handlers of one pattern both run (nest#7913)', async () => {
    await using service = await startService([Above, Below]);
    seen.length = 0;
    for (const pattern of ['event.above', 'event.below', 'shared'])
      await firstValueFrom(service.client.emit(pattern, { id: '1' }), { defaultValue: undefined });
    await waitFor(() => seen.length === 4);
    expect(seen.sort()).toEqual(['above 1', 'below 1', 'first 1', 'second 1']);
    expect(service.keys.sort()).toEqual(['below:1', 'event:1', 'first:1', 'second:1']);
  });

  it('do not run while the key is busy', async () => {
    await using service = await startService([Above]);
    await using _held = await service.leases.acquire('message:7');
    await expect(firstValueFrom(service.client.send('above', { id: '7' }))).rejects.toBeDefined();
    expect(service.keys).toEqual(['message:7']);
  });
});

describe('gateways', () => {
  @WebSocketGateway()
  class Rooms {
    @SubscribeMessage('above')
    @WithLease('room:<id>')
    async above(@ConnectedSocket() _socket: unknown, @MessageBody('id') id: string, @FencingToken() token: number): Promise<object> {
      return Promise.resolve({ event: 'above', data: `${id} ${String(token > 0)}` });
    }

    @WithLease('room:<id>')
    @SubscribeMessage('below')
    async below(@MessageBody() room: { id: string }): Promise<object> {
      return Promise.resolve({ event: 'below', data: room.id });
    }
  }

  it('answer messages in both orders', async () => {
    const module = await Test.createTestingModule({
      imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })],
      providers: [Rooms],
    })
      .setLogger(new CapturedLog())
      .compile();
    const app = module.createNestApplication();
    app.useWebSocketAdapter(new WsAdapter(app));
    await app.listen(0, '127.0.0.1');
    const keys = acquiredKeys(app);
    const socket = new WebSocket((await app.getUrl()).replace('http', 'ws'));
    await new Promise((resolve) => socket.once('open', resolve));
    const ask = async (event: string): Promise<unknown> => {
      const answer = new Promise<string>((resolve) => socket.once('message', (data: Buffer) => resolve(data.toString())));
      socket.send(JSON.stringify({ event, data: { id: '4' } }));
      return JSON.parse(await answer) as unknown;
    };
    expect([await ask('above'), await ask('below')]).toEqual([
      { event: 'above', data: '4 true' },
      { event: 'below', data: '4' },
    ]);
    expect(keys).toEqual(['room:4', 'room:4']);
    socket.close();
    await app.close();
  });
});

describe('handlers of @nestjs/schedule', () => {
  const runs: string[] = [];

  @Injectable()
  class Jobs {
    @WithLease('cron:above')
    @Cron('* * * * * *', { name: 'above' })
    async above(@FencingToken() token: number): Promise<void> {
      runs.push(`above ${String(token > 0)}`);
      return Promise.resolve();
    }

    @Cron('* * * * * *', { name: 'below' })
    @WithLease('cron:below')
    async below(@FencingToken() token: number): Promise<void> {
      runs.push(`below ${String(token > 0)}`);
      return Promise.resolve();
    }

    @WithLease('interval')
    @Interval('every', 10)
    async every(): Promise<void> {
      runs.push('every');
      return Promise.resolve();
    }

    @Timeout('once', 1)
    @WithLease('once')
    async once(): Promise<void> {
      runs.push('once');
      return Promise.resolve();
    }
  }

  it('are registered and run under their leases in both orders', async () => {
    await using rig = await startLeases({ imports: [ScheduleModule.forRoot()], providers: [Jobs] }, { listen: false });
    const registry = rig.app.get(SchedulerRegistry);
    expect([[...registry.getCronJobs().keys()].sort(), registry.getIntervals(), registry.getTimeouts()]).toEqual([
      ['above', 'below'],
      ['every'],
      ['once'],
    ]);
    await waitFor(() => ['above true', 'below true', 'every', 'once'].every((run) => runs.includes(run)));
    expect(new Set(rig.keys)).toEqual(new Set(['cron:above', 'cron:below', 'interval', 'once']));
  });
});
