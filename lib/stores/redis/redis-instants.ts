import type { BeginReply, BeginRequest, FinishReply, FinishRequest, InstantStore, RunRecord } from '../instant-store.js';
import { readBegin, readRun } from './instant-replies.js';
import type { GrantPath } from './grant-calls.js';
import { escapePart, type LeaseKeys } from './keys.js';
import { unreadable } from './replies.js';
import type { ScriptCalls } from './script-calls.js';
import { beginScript } from './scripts/begin.script.js';
import { finishScript } from './scripts/finish.script.js';
import { historyScript } from './scripts/history.script.js';

/** The instants of scheduled jobs in Redis: one script for each verb, all keys of a job in the slot of its lease. */
export class RedisInstants implements InstantStore {
  constructor(
    private readonly keys: LeaseKeys,
    private readonly calls: ScriptCalls,
    private readonly grants: GrantPath,
    private readonly retention: readonly number[],
  ) {}

  begin(request: BeginRequest): Promise<BeginReply> {
    return new Promise((resolve, reject) => {
      const { key, holderId, holderTag, holder, ttlMs, floor = 0, instant, schedule, lifeMs, purpose, rerun } = request;
      const keys = this.keys.ofJob(key);
      const about = `${escapePart(holderTag)} ${holder}`;
      const args = [escapePart(holderId), ttlMs, floor, about, instant, schedule, lifeMs, purpose, rerun ? 1 : 0];
      const settle = (reply: unknown, time: number): void => resolve(readBegin(reply, request, keys[0], time));
      this.grants.send(beginScript, this.retention, [{ keys, args, ttlMs, settle, fail: reject }]);
    });
  }

  finish({ key, holderId, fencingToken, outcome, atLeastForMs, lifeMs }: FinishRequest): Promise<FinishReply> {
    return new Promise((resolve, reject) => {
      const [lease, fence, queue, waiters] = this.keys.of(key);
      const keys = [lease, fence, this.keys.ofJob(key)[2], queue, waiters];
      const args = [escapePart(holderId), fencingToken, outcome, atLeastForMs, lifeMs];
      const settle = (reply: unknown): void => resolve({ kind: reply === 1 ? 'released' : 'not-held' });
      this.calls.send(finishScript, [...this.retention, this.keys.wakeChannel], [{ keys, args, settle, fail: reject }]);
    });
  }

  history(key: string): Promise<readonly RunRecord[]> {
    return new Promise((resolve, reject) => {
      const [lease, , record, runs] = this.keys.ofJob(key);
      const settle = (reply: unknown): void => {
        if (!Array.isArray(reply)) throw unreadable(reply);
        resolve(reply.map(readRun));
      };
      this.calls.send(historyScript, [], [{ keys: [lease, record, runs], args: [], settle, fail: reject }]);
    });
  }
}
