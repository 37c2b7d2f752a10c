import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Auditor, type AuditedWrite } from './auditor.js';
import { seeded } from './fuzz-random.js';
import { TestProcess } from './process.js';
import { RedisServer } from './redis-server.js';

export interface FuzzOptions {
  readonly seed: number;
  readonly forMs: number;
  readonly ttlMs: number;
  readonly workers: number;
  /** Workers are killed and frozen, and the lease key is deleted under its holder. */
  readonly faults: boolean;
}

export interface FuzzResult {
  readonly writes: number;
  /** Of the unprotected counter, although no fault had hit either of the two leases. */
  readonly lostWithoutFault: readonly string[];
  /** Of the unprotected counter, after a fault. */
  readonly lostAfterFault: number;
  /** Writes that the fenced row took, and what it says in the end: the same, or an update was lost. */
  readonly fencedAccepted: number;
  readonly fencedValue: number;
  readonly faults: Readonly<Record<'kill' | 'freeze' | 'delete', number>>;
  readonly unhandled: number;
}

const KEY = 'counter';
const LEASE = `fuzz:{${KEY}}`;
const program = join(import.meta.dirname, 'fuzz.process.ts');

/** Several processes count under one lease, while they are killed, frozen and robbed; judged by what the auditor saw. */
export class Fuzz {
  private readonly random: () => number;
  private readonly workers: TestProcess[] = [];
  private readonly hit = new Set<number>();
  private readonly done = { kill: 0, freeze: 0, delete: 0 };
  private started = 0;
  private unhandled = 0;

  private constructor(
    private readonly options: FuzzOptions,
    private readonly server: RedisServer,
    private readonly auditor: Auditor,
  ) {
    this.random = seeded(options.seed);
  }

  static async run(options: FuzzOptions): Promise<FuzzResult> {
    const [server, auditor] = await Promise.all([RedisServer.start(), Auditor.start()]);
    const fuzz = new Fuzz(options, server, auditor);
    try {
      return await fuzz.play();
    } finally {
      await Promise.all(fuzz.workers.map((worker) => worker.kill()));
      await auditor.stop();
      await server.stop();
    }
  }

  private async play(): Promise<FuzzResult> {
    const { workers, forMs, faults } = this.options;
    for (let i = 0; i < workers; i++) this.start();
    await Promise.all(this.workers.map((worker) => worker.message('ready', { timeoutMs: 30_000 })));
    const until = performance.now() + forMs;
    while (performance.now() < until) {
      await sleep(100 + this.random() * 300);
      if (faults) await this.fault();
    }
    for (const worker of this.workers) worker.send({ type: 'end' });
    await Promise.all(this.workers.map((worker) => worker.ended()));
    return this.judge();
  }

  private start(): TestProcess {
    const { seed, ttlMs } = this.options;
    this.started += 1;
    const about = { url: this.server.url, auditorPort: this.auditor.port, key: KEY, ttlMs, seed: seed * 1000 + this.started };
    const worker = new TestProcess(program, about);
    this.workers.push(worker);
    return worker;
  }

  private async fault(): Promise<void> {
    const alive = this.workers.filter((worker) => worker.running);
    const victim = alive[Math.floor(this.random() * alive.length)] as TestProcess;
    const which = this.random();
    if (which < 0.3) {
      this.done.kill += 1;
      await victim.kill();
      this.strike(victim);
      this.count(victim);
      this.workers.splice(this.workers.indexOf(victim), 1);
      this.start();
    } else if (which < 0.8) {
      this.done.freeze += 1;
      victim.freeze();
      this.strike(victim);
      await sleep(this.options.ttlMs * (0.5 + this.random() * 1.5));
      victim.thaw();
      // What it had acquired before it stood still may only be told now.
      await sleep(20);
      this.strike(victim);
    } else {
      this.done.delete += 1;
      const reply = await this.server.ask('EVAL', "local v = redis.call('GET', KEYS[1]) redis.call('DEL', KEYS[1]) return v", '1', LEASE);
      const token = Number(reply.split('\r\n')[1]?.split(' ')[1]);
      if (token > 0) this.hit.add(token);
    }
  }

  /** Its latest lease was hit by a fault. */
  private strike(worker: TestProcess): void {
    const token = worker.of('acquired').at(-1)?.token as number | undefined;
    if (token !== undefined) this.hit.add(token);
  }

  private count(worker: TestProcess): void {
    this.unhandled += worker.of('unhandled').length;
  }

  private judge(): FuzzResult {
    for (const worker of this.workers) this.count(worker);
    const writes = this.auditor.of(KEY);
    const known = new Set(this.workers.flatMap((worker) => worker.of('acquired').map(({ token }) => token as number)));
    // A killed process may not have told its last lease any more.
    const sound = ({ token }: AuditedWrite): boolean => known.has(token) && !this.hit.has(token);
    const lost = writes.flatMap((write, i) => {
      const before = writes[i - 1];
      return write.value === (before?.value ?? 0) + 1 ? [] : [{ write, before }];
    });
    const without = lost.filter(({ write, before }) => sound(write) && (before === undefined || sound(before)));
    const row = this.auditor.ask({ op: 'read', resource: KEY });
    return {
      writes: writes.length,
      lostWithoutFault: without.map(({ write, before }) => `${JSON.stringify(before)} then ${JSON.stringify(write)}`),
      lostAfterFault: lost.length - without.length,
      fencedAccepted: writes.filter(({ accepted }) => accepted).length,
      fencedValue: row.fenced,
      faults: this.done,
      unhandled: this.unhandled,
    };
  }
}
