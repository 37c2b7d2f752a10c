import type { RedisServer } from '../redis-server.js';
import { command } from './command.js';

/** A slot on its way from one primary to another, as `redis-cli --cluster reshard` does it, in steps. */
export class SlotMigration {
  constructor(
    readonly slot: number,
    readonly from: RedisServer,
    readonly to: RedisServer,
    private readonly primaries: readonly RedisServer[],
    private readonly idOf: (node: RedisServer) => string,
  ) {}

  /** From now on the old primary answers ASK for keys that it no longer has, and TRYAGAIN where it has only some. */
  async begin(): Promise<void> {
    await this.set(this.to, 'IMPORTING', this.idOf(this.from));
    await this.set(this.from, 'MIGRATING', this.idOf(this.to));
  }

  /** Redis keys of the slot that are still where they were. */
  async keysLeft(): Promise<string[]> {
    return (await command(this.from, 'CLUSTER', 'GETKEYSINSLOT', String(this.slot), '10000')) as string[];
  }

  /** Moves those of the keys, by default all that are left. Says how many. */
  async moveKeys(which: (key: string) => boolean = () => true): Promise<number> {
    const keys = (await this.keysLeft()).filter(which);
    if (keys.length > 0) await command(this.from, 'MIGRATE', this.to.host, String(this.to.port), '', '0', '5000', 'KEYS', ...keys);
    return keys.length;
  }

  /** The slot belongs to the new primary; every primary is told. */
  async end(): Promise<void> {
    while ((await this.moveKeys()) > 0);
    const order = [this.to, this.from, ...this.primaries.filter((node) => node !== this.to && node !== this.from)];
    for (const node of order) await this.set(node, 'NODE', this.idOf(this.to));
  }

  private async set(node: RedisServer, state: string, id: string): Promise<void> {
    await command(node, 'CLUSTER', 'SETSLOT', String(this.slot), state, id);
  }
}
