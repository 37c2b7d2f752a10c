import { describe, expect, it } from '@jest/globals';
import {
  BadGatewayException,
  Catch,
  Controller,
  Get,
  Header,
  HttpCode,
  Injectable,
  Param,
  Post,
  Query,
  SetMetadata,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Type as Transform } from 'class-transformer';
import { IsInt } from 'class-validator';
import { map, type Observable } from 'rxjs';
import { FencingToken, WithLease } from '../../../lib/index.js';
import { startLeases } from './rig.js';

const Roles = (...roles: string[]): MethodDecorator => SetMetadata('roles', roles);

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const needed = this.reflector.get<string[] | undefined>('roles', context.getHandler());
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
    return needed === undefined || needed.includes(request.headers['x-role'] ?? '');
  }
}

@Injectable()
class Wrapping implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((result: unknown) => ({ result })));
  }
}

@Catch(BadGatewayException)
class Teapot implements ExceptionFilter {
  catch(_error: unknown, host: ArgumentsHost): void {
    const response: { status: (code: number) => { send: (body: unknown) => void } } = host.switchToHttp().getResponse();
    response.status(418).send({ filtered: true });
  }
}

class Page {
  @ApiProperty({ description: 'which page' })
  @IsInt()
  @Transform(() => Number)
  page!: number;
}

class Outcome {
  @ApiProperty()
  text!: string;
}

let bodies = 0;

/** Decorators of one method as they stand in the source, first on top. */
const OTHERS: MethodDecorator[] = [
  Get(':id'),
  HttpCode(202),
  Header('x-kind', 'job'),
  Roles('admin'),
  UseGuards(RolesGuard),
  UsePipes(new ValidationPipe({ transform: true })),
  UseInterceptors(Wrapping),
  UseFilters(Teapot),
  ApiOkResponse({ type: Outcome }),
  ApiOperation({ summary: 'runs a job' }),
];

/** The controller with @WithLease before the n-th of the other decorators, or without it. */
function controllerWith(position: number | undefined): Type {
  @ApiTags('jobs')
  @Controller('jobs')
  class JobsController {
    async run(@Param('id') id: string, @FencingToken() token: number, @Query() query: Page): Promise<Outcome> {
      bodies += 1;
      if (id === 'bad') throw new BadGatewayException();
      return Promise.resolve({ text: `${id} ${String(token > 0)} ${String(query.page + 1)}` });
    }
  }
  const decorators = [...OTHERS];
  if (position !== undefined) decorators.splice(position, 0, WithLease('job:<id>', { ttl: 60 }) as MethodDecorator);
  let descriptor = Object.getOwnPropertyDescriptor(JobsController.prototype, 'run') as PropertyDescriptor;
  for (const decorate of decorators.reverse()) descriptor = decorate(JobsController.prototype, 'run', descriptor) ?? descriptor;
  Object.defineProperty(JobsController.prototype, 'run', descriptor);
  return JobsController;
}

const positions = OTHERS.map((_, i) => i).concat(OTHERS.length);
const ALL: ['express' | 'fastify', number][] = [
  ...positions.map((at): ['express', number] => ['express', at]),
  ...[0, 5, OTHERS.length].map((at): ['fastify', number] => ['fastify', at]),
];

describe.each(ALL)('on %s, with @WithLease at place %i among the decorators of a route', (adapter, position) => {
  it('guards, roles, pipes, interceptors, filters, status and headers are those of the route without it (opentelemetry-js-contrib#796, orpc#1776)', async () => {
    await using rig = await startLeases({ controllers: [controllerWith(position)] }, { adapter });
    bodies = 0;
    const get = (path: string, role = 'admin'): Promise<Response> => fetch(`${rig.url}/jobs/${path}`, { headers: { 'x-role': role } });

    const forbidden = await get('7?page=1', 'nobody');
    const invalid = await get('7?page=x');
    expect([forbidden.status, invalid.status, bodies, rig.keys]).toEqual([403, 400, 0, []]);

    const answer = await get('7?page=1');
    expect([answer.status, answer.headers.get('x-kind'), await answer.json()]).toEqual([202, 'job', { result: { text: '7 true 2' } }]);
    const filtered = await get('bad?page=1');
    expect([filtered.status, await filtered.json()]).toEqual([418, { filtered: true }]);
    expect([bodies, rig.keys]).toEqual([2, ['job:7', 'job:bad']]);
  });
});

describe('the OpenAPI document', () => {
  const documentOf = async (position: number | undefined): Promise<string> => {
    const controller = controllerWith(position);
    // Without a lease the marked parameter would be an error, as it should be; its mark is of no interest here.
    if (position === undefined) Reflect.deleteMetadata('lease:slots', controller.prototype as object, 'run');
    await using rig = await startLeases({ controllers: [controller] }, { listen: false });
    return JSON.stringify(SwaggerModule.createDocument(rig.app, new DocumentBuilder().build()));
  };

  it('is byte for byte the one without @WithLease, in every order (swagger#217)', async () => {
    const without = await documentOf(undefined);
    expect(without).toContain('"which page"');
    expect(without).toContain('#/components/schemas/Outcome');
    for (const position of positions) expect([position, await documentOf(position)]).toEqual([position, without]);
  });
});

describe('a busy key', () => {
  it('answers 409 by default and the skipValue where there is one (ShedLock#200)', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    @Controller()
    class Jobs {
      @Post('wait')
      @WithLease('job')
      async wait(): Promise<string> {
        await finished;
        return 'done';
      }
      @Post('throw')
      @WithLease('job')
      async throw(): Promise<string> {
        return Promise.resolve('never');
      }
      @Post('skip')
      @WithLease('job', { onBusy: 'skip', skipValue: 'busy' })
      async skip(): Promise<string> {
        return Promise.resolve('never');
      }
    }
    await using rig = await startLeases({ controllers: [Jobs] });
    const post = async (path: string): Promise<[number, string]> => {
      const answer = await fetch(`${rig.url}/${path}`, { method: 'POST' });
      return [answer.status, await answer.text()];
    };
    const waiting = post('wait');
    while (rig.keys.length === 0) await new Promise(setImmediate);
    const busy = await post('throw');
    expect(busy[0]).toBe(409);
    expect(JSON.parse(busy[1])).toMatchObject({ code: 'LEASE_BUSY' });
    expect(busy[1]).not.toContain('"job"');
    expect(await post('skip')).toEqual([201, 'busy']);
    finish();
    expect(await waiting).toEqual([201, 'done']);
  });
});

describe('a value that the key needs', () => {
  it('and that is missing answers 400 before the body runs, with no key that all share (murlock)', async () => {
    bodies = 0;
    @Controller()
    class Orders {
      @Get('order')
      @WithLease('order:<id>')
      async run(@Query('id') id: string): Promise<string> {
        bodies += 1;
        return Promise.resolve(id);
      }
    }
    await using rig = await startLeases({ controllers: [Orders] });
    for (const query of ['', '?id=', '?id=1&id=2']) {
      const answer = await fetch(`${rig.url}/order${query}`);
      expect([query, answer.status, await answer.json()]).toMatchObject([query, 400, { code: 'LEASE_KEY_INVALID' }]);
    }
    expect([bodies, rig.keys]).toEqual([0, []]);
    expect((await fetch(`${rig.url}/order?id=a:b`)).status).toBe(200);
    expect(rig.keys).toEqual(['order:a%3Ab']);
  });
});
