import { NestFactory } from '@nestjs/core';
import type { LeaseModuleOptions, LeaseStore } from 'nestjs-lease';
import { Child } from '../../common/child.js';
import { CutStore } from '../../common/cut-store.js';
import { AgentService } from '../app/agent.service.js';
import { AppModule } from '../app/app.module.js';
import { ReachedModel, ReachedTools, type Reach } from './outside.js';
import type { World } from './world.js';

/** One replica, as the scenes see and mistreat it. */
export interface Replica {
  readonly name: string;
  resume(thread: string): Promise<string[]>;
  crash(): Promise<void>;
}

/** Boots the application of one replica. */
export async function bootReplica(name: string, lease: LeaseModuleOptions, reach: Reach): Promise<AgentService> {
  const outside = { model: new ReachedModel(name, reach), tools: new ReachedTools(name, reach) };
  const module = AppModule.forReplica({ lease: { holder: name, ...lease }, ...outside });
  const app = await NestFactory.createApplicationContext(module, { logger: ['fatal'], abortOnError: false });
  return app.get(AgentService);
}

/** A replica in this process; a crash is played by cutting it off from the store, and no answer of the world reaches it. */
export async function startMemoryReplica(name: string, shared: LeaseStore, world: World): Promise<Replica> {
  const store = new CutStore(shared);
  const reach = ((verb: 'next' | 'call' | 'lookUp', ...args: never[]) => {
    const method = world[verb] as (...args: never[]) => unknown;
    return Promise.resolve(method.apply(world, args));
  }) as Reach;
  const agent = await bootReplica(name, { store }, reach);
  const crash = (): Promise<void> => {
    store.cut();
    return Promise.resolve();
  };
  return { name, resume: (thread) => agent.resume(thread), crash };
}

/** A replica in a process of its own; SIGKILL is the crash. */
export async function startProcessReplica(name: string, settings: object, world: World): Promise<Replica> {
  const program = new URL('./replica-process.js', import.meta.url);
  const child = await Child.start(
    program,
    { name, ...settings },
    {
      next: (replica: string, step: number) => world.next(replica, step),
      call: (replica: string, tool: string, key: string) => world.call(replica, tool, key),
      lookUp: (replica: string, key: string) => world.lookUp(replica, key),
    },
  );
  return { name, resume: (thread) => child.link.call('resume', thread), crash: () => child.kill() };
}
