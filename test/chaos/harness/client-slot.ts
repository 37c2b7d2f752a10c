import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestProcess, type ChildMessage } from '../../support/process.js';
import type { TcpProxy } from '../../support/tcp-proxy.js';
import type { ClientOptions } from './client.process.js';
import { now } from './history.js';
import type { Fault } from './schedule.js';

const program = join(import.meta.dirname, 'client.process.ts');
const HOUR_MS = 3_600_000;

/** A place for a client process: when one was killed another takes it. */
export class ClientSlot {
  /** Messages of all that were here. */
  readonly messages: ChildMessage[] = [];
  /** When one was killed. */
  readonly deaths: number[] = [];
  private process: TestProcess | undefined;
  private started = 0;
  private frozen = false;
  private ready = false;

  constructor(
    private readonly index: number,
    private readonly links: readonly TcpProxy[],
    /** In front of the resource. */
    private readonly resource: TcpProxy,
    private readonly options: Omit<ClientOptions, 'name' | 'number' | 'seed' | 'resourcePort'> & { readonly seed: number },
    /** Resolves when no fault of the store keeps the clients out. */
    private readonly gate: () => Promise<void>,
  ) {}

  /** Starts a process; resolves when it is at work. */
  async start(): Promise<void> {
    const number = this.index + 100 * this.started++;
    const { port } = this.resource;
    const seed = this.options.seed * 10_007 + number;
    const process = new TestProcess(program, { ...this.options, name: `c${String(number)}`, number, seed, resourcePort: port });
    this.process = process;
    await process.message('ready', { timeoutMs: 60_000 });
    this.ready = true;
  }

  /** Does what the fault says; resolves when it is over. Says whether it could be done now. */
  async strike({ kind, forMs, amount }: Fault): Promise<boolean> {
    if (!this.ready || this.frozen) return false;
    switch (kind) {
      case 'kill':
        await this.kill();
        await this.start();
        return true;
      case 'freeze':
        this.frozen = true;
        this.process?.freeze();
        await sleep(forMs);
        this.thaw();
        return true;
      case 'wall-clock':
        this.process?.send({ type: kind, ms: amount * HOUR_MS });
        return true;
      case 'suspend':
        this.process?.send({ type: kind, ms: Math.abs(amount) * HOUR_MS });
        return true;
      case 'slow-network':
        // What was sent to the resource arrives when the lease is long over.
        this.resource.delay(forMs, 'request');
        for (const proxy of this.links) proxy.delay(forMs, 'request');
        await this.after(forMs);
        this.resource.pass();
        return true;
      default:
        this.disturb(kind, Math.abs(amount) * 300);
        await this.after(forMs);
        return true;
    }
  }

  thaw(): void {
    this.frozen = false;
    this.process?.thaw();
  }

  /** Asks it to come to an end, and waits until it has. */
  async end(): Promise<void> {
    this.process?.send({ type: 'end' });
    await this.process?.ended();
    this.collect();
  }

  async stop(): Promise<void> {
    await this.process?.kill();
    this.collect();
  }

  /** Everything that was told by whoever was here. */
  of(type: string): ChildMessage[] {
    return [...this.messages, ...(this.process?.messages ?? [])].filter((message) => message.type === type);
  }

  /** The newest such message of who is here now. */
  last(type: string, which: (message: ChildMessage) => boolean): ChildMessage | undefined {
    return this.process?.messages.findLast((message) => message.type === type && which(message));
  }

  /** Processes that ended without having been told to. */
  get crashed(): string[] {
    const own = this.process !== undefined && !this.process.running && this.process.of('ended').length === 0;
    return own ? [`the client ${String(this.index)} ended: ${this.process?.output ?? ''}`] : [];
  }

  private async kill(): Promise<void> {
    this.ready = false;
    this.deaths.push(now());
    await this.process?.kill();
    this.collect();
  }

  private collect(): void {
    if (!this.process) return;
    this.messages.push(...this.process.messages);
    this.process = undefined;
  }

  private async after(ms: number): Promise<void> {
    await sleep(ms);
    await this.gate();
    for (const proxy of this.links) proxy.pass();
  }

  private disturb(kind: string, ms: number): void {
    for (const proxy of this.links) {
      if (kind === 'cut') proxy.cut();
      if (kind === 'refuse') proxy.refuse().cut();
      if (kind === 'half-open') proxy.halfOpen();
      if (kind === 'delay') proxy.delay(ms);
      if (kind === 'lose-requests' || kind === 'partition') proxy.drop('request');
      if (kind === 'lose-replies' || kind === 'partition') proxy.drop('reply');
    }
  }
}
