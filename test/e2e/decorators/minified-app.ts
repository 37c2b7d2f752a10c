import 'reflect-metadata';
import { Controller, Get, Module, Param, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LeaseEvents, LeaseKey, LeaseModule, MemoryLeaseStore, WithLease } from '../../../lib/index.js';

// Bundled by minified.spec.ts, plain and minified, and run as a program: it prints the keys that it took.

@Controller()
class Jobs {
  @Get()
  @WithLease('route:<id>')
  async route(@Query('page') _page: string, @Param('id') ident: string): Promise<string> {
    return Promise.resolve(ident);
  }

  @WithLease('marked:<id>')
  async marked(@LeaseKey('id') ident: string, other: string): Promise<string> {
    return Promise.resolve(ident + other);
  }

  @WithLease('own:<account>')
  async own(account: string): Promise<string> {
    return Promise.resolve(account);
  }

  @WithLease('property:<id>')
  async property({ id }: { id: string }): Promise<string> {
    return Promise.resolve(id);
  }

  @WithLease('position:<0.id>:<1>')
  async position({ id }: { id: string }, second = 'x', ...others: string[]): Promise<string> {
    return Promise.resolve(id + second + others.join());
  }

  @WithLease((first: string, second: string) => `function:${second}`)
  async function(first: string, second: string): Promise<string> {
    return Promise.resolve(first + second);
  }
}

class BySourceName {
  @WithLease('source:<tenant>:<account>')
  async run(tenant: string, account: string): Promise<string> {
    return Promise.resolve(tenant + account);
  }
}

async function keysOf(
  classes: (typeof Jobs | typeof BySourceName)[],
  calls: (get: <T>(type: new () => T) => T) => Promise<unknown>,
): Promise<string[]> {
  class AppModule {}
  Module({ imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })], providers: classes })(AppModule);

  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  const keys: string[] = [];
  app.get(LeaseEvents).on('acquired', ({ key }) => {
    keys.push(key);
  });
  await calls((type) => app.get(type));
  await app.close();
  return keys;
}

const keys = await keysOf([Jobs], async (get) => {
  const jobs = get(Jobs);
  await jobs.route('9', '1');
  await jobs.marked('2', 'x');
  await jobs.own('3');
  await jobs.property({ id: '4' });
  await jobs.position({ id: '5' }, '6', '7');
  await jobs.function('x', '7');
});
const bySourceName = await keysOf([BySourceName], (get) => get(BySourceName).run('8', '9')).then(
  ([key]) => key,
  (error: unknown) => (error as Error).message,
);
process.stdout.write(JSON.stringify({ keys, className: Jobs.name, bySourceName }));
