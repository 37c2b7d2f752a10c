import type {
  EffectRecord,
  EffectStore,
  SettleEffectReply,
  SettleEffectRequest,
  StartEffectReply,
  StartEffectRequest,
} from '../effect-store.js';
import { ExpiringMap, type Expiring } from './expiring-map.js';
import type { HeldLease } from './held-lease.js';

/** What effects ask of the leases around them. */
export interface HeldLeases {
  now(): number;
  held(key: string, now: number): HeldLease | undefined;
}

interface Effect extends EffectRecord, Expiring {
  readonly holderId: string;
}

/** The effects of `once`, with the rules of the Redis store. */
export class MemoryEffects implements EffectStore {
  private readonly effects = new ExpiringMap<Effect>();

  constructor(private readonly leases: HeldLeases) {}

  async find(key: string): Promise<EffectRecord | undefined> {
    await Promise.resolve();
    const effect = this.effects.get(key, this.leases.now());
    return effect && recordOf(effect);
  }

  async start({ key, holderId, keepMs, rerun }: StartEffectRequest): Promise<StartEffectReply> {
    await Promise.resolve();
    const now = this.leases.now();
    const lease = this.leases.held(key, now);
    if (lease?.holderId !== holderId) return { kind: 'not-held' };
    const known = this.effects.get(key, now);
    const crashed = known?.state === 'started' && known.holderId !== holderId;
    if (known && (known.state !== 'started' || (crashed && !rerun))) return { kind: 'known', record: recordOf(known) };
    this.effects.set(key, { ...by(lease), holderId, state: 'started', started: now, text: '', expiresAt: now + keepMs }, now);
    return { kind: 'started', rerun: crashed };
  }

  async settle({ key, holderId, outcome, text, keepMs }: SettleEffectRequest): Promise<SettleEffectReply> {
    await Promise.resolve();
    const now = this.leases.now();
    const lease = this.leases.held(key, now);
    const known = this.effects.get(key, now);
    if (lease?.holderId !== holderId || (known && known.holderId !== holderId)) return { kind: 'not-held' };
    if (outcome === 'undone') this.effects.delete(key);
    else {
      const started = known?.started ?? lease.since;
      this.effects.set(key, { ...by(lease), holderId, state: outcome, started, text, expiresAt: now + keepMs }, now);
    }
    return { kind: 'settled' };
  }
}

function by({ holder, holderTag, fencingToken }: HeldLease): Pick<EffectRecord, 'holder' | 'holderTag' | 'fencingToken'> {
  return { holder, holderTag, fencingToken };
}

function recordOf({ state, fencingToken, holder, holderTag, started, text }: Effect): EffectRecord {
  return { state, fencingToken, holder, holderTag, started, text };
}
