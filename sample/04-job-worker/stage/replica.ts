import { NestFactory } from '@nestjs/core';
import type { JobClaim, LeaseModuleOptions, LeaseStore } from 'nestjs-lease';
import { Child } from '../../common/child.js';
import { CutStore } from '../../common/cut-store.js';
import { AppModule } from '../app/app.module.js';
import type { JobBoard } from '../app/job-board.js';
import { Renderer } from '../app/renderer.js';
import { LocalBoard, type Board, type Writer } from './board.js';

/** One replica, as the scene sees and mistreats it. */
export interface Replica {
  readonly name: string;
  crash(): Promise<void>;
}

/** Told when a replica begins a job. */
export type Begun = (jobId: string, fencingToken: number) => unknown;

/** A renderer that tells the stage what it does. */
class ToldRenderer extends Renderer {
  constructor(private readonly begun: Begun) {
    super();
  }

  override render(claim: JobClaim): Promise<string> {
    this.begun(claim.jobId, claim.fencingToken);
    return super.render(claim);
  }
}

/** Boots the application of one replica. */
export async function bootReplica(lease: LeaseModuleOptions, board: JobBoard, begun: Begun): Promise<void> {
  const module = AppModule.forReplica({ lease, board, renderer: new ToldRenderer(begun) });
  await NestFactory.createApplicationContext(module, { logger: ['fatal'], abortOnError: false });
}

/** A replica in this process; a crash is played by cutting it off from the store and the board. */
export async function startMemoryReplica(name: string, shared: LeaseStore, board: Board, begun: Begun): Promise<Replica> {
  const store = new CutStore(shared);
  const local = new LocalBoard(name, board);
  await bootReplica({ store, holder: name }, local, (jobId, token) => {
    if (!local.crashed) begun(jobId, token);
  });
  const crash = (): Promise<void> => {
    store.cut();
    local.crashed = true;
    return Promise.resolve();
  };
  return { name, crash };
}

/** A replica in a process of its own; SIGKILL is the crash. */
export async function startProcessReplica(name: string, settings: object, board: Board, begun: Begun): Promise<Replica> {
  const program = new URL('./replica-process.js', import.meta.url);
  const handlers = { open: () => board.open(), finish: (writer: Writer) => board.finish(writer), begun };
  const child = await Child.start(program, { name, ...settings }, handlers);
  return { name, crash: () => child.kill() };
}
