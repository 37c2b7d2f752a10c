import type {
  EffectRecord,
  EffectState,
  EffectStore,
  SettleEffectReply,
  SettleEffectRequest,
  StartEffectReply,
  StartEffectRequest,
} from '../effect-store.js';
import { escapePart, unescapePart, type LeaseKeys } from './keys.js';
import { unreadable } from './replies.js';
import type { ScriptCalls } from './script-calls.js';
import { findEffectScript } from './scripts/find-effect.script.js';
import type { LeaseScript } from './scripts/lease-script.js';
import { settleEffectScript } from './scripts/settle-effect.script.js';
import { startEffectScript } from './scripts/start-effect.script.js';

/** The effects of `once` in Redis: one script for each verb, in the slot of the lease. */
export class RedisEffects implements EffectStore {
  constructor(
    private readonly keys: LeaseKeys,
    private readonly calls: ScriptCalls,
  ) {}

  find(key: string): Promise<EffectRecord | undefined> {
    return this.ask(
      findEffectScript,
      () => this.keys.ofEffect(key).slice(1),
      [],
      (reply) => (reply === 0 ? undefined : readKnown(reply)),
    );
  }

  start({ key, holderId, keepMs, rerun }: StartEffectRequest): Promise<StartEffectReply> {
    const args = [escapePart(holderId), keepMs, rerun ? 1 : 0];
    return this.ask(
      startEffectScript,
      () => this.keys.ofEffect(key),
      args,
      (reply) => {
        if (reply === 0) return { kind: 'not-held' };
        if (Array.isArray(reply) && reply[0] === 'started') return { kind: 'started', rerun: reply[1] === 1 };
        return { kind: 'known', record: readKnown(reply) };
      },
    );
  }

  settle({ key, holderId, outcome, text, keepMs }: SettleEffectRequest): Promise<SettleEffectReply> {
    const args = [escapePart(holderId), outcome, text, keepMs];
    return this.ask(
      settleEffectScript,
      () => this.keys.ofEffect(key),
      args,
      (reply) => ({ kind: reply === 1 ? 'settled' : 'not-held' }),
    );
  }

  private ask<T>(
    script: LeaseScript,
    keys: () => readonly string[],
    args: readonly (string | number)[],
    read: (reply: unknown) => T,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      this.calls.send(script, [], [{ keys: keys(), args, settle: (reply) => resolve(read(reply)), fail: reject }]);
    });
  }
}

const STATES: ReadonlySet<unknown> = new Set<EffectState>(['started', 'done', 'unusable']);

/** @throws StoreError */
function readKnown(reply: unknown): EffectRecord {
  if (!Array.isArray(reply) || reply[0] !== 'known' || !STATES.has(reply[1])) throw unreadable(reply);
  const [, state, fencingToken, started, about, text] = reply as [string, EffectState, number, number, string, string];
  const space = about.indexOf(' ');
  return { state, fencingToken, started, text, holderTag: unescapePart(about.slice(0, space)), holder: about.slice(space + 1) };
}
