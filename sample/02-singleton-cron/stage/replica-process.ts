import { NestFactory } from '@nestjs/core';
import { RedisLeaseStore } from 'nestjs-lease';
import { AppModule } from '../app/app.module.js';
import type { ReplicaMessage } from './process-fleet.js';
import type { Told } from './replica.js';
import { ShiftedClock } from './shifted-clock.js';

/** What the fleet tells a replica as its only argument. */
interface ReplicaSettings {
  readonly shiftMs: number;
  readonly redisUrl: string;
  readonly namespace: string;
}

const say = (message: ReplicaMessage): Promise<void> => new Promise((resolve) => process.send?.(message, () => resolve()));

process.once('disconnect', () => process.exit());
// Ctrl-C reaches every process of the terminal; the first one ends the others.
process.on('SIGINT', () => undefined);

const { shiftMs, redisUrl, namespace } = JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings;
const told = (what: Told['what']) => (instant: number, fencingToken: number) => void say({ what, instant, fencingToken });

try {
  const store = new RedisLeaseStore({ connection: redisUrl, namespace, patienceMs: 2000 });
  await store.ping();
  const journal = { began: told('began'), ended: told('ended') };
  const module = AppModule.forReplica({ store, clock: new ShiftedClock(shiftMs), journal });
  await NestFactory.createApplicationContext(module, { logger: false });
  await say({ up: true });
} catch (error) {
  await say({ failed: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}
