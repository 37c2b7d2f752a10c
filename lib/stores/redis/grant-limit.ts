import { StoreError } from '../lease-store.js';
import { formatDuration } from '../../time/duration.js';
import type { GrantPath } from './grant-calls.js';
import type { Asked } from './script-calls.js';
import type { LeaseScript } from './scripts/lease-script.js';

/** Grants no lease that would outlive the guard against amnesia: its holder might still be at work when the pause is over. */
export class GrantLimit implements GrantPath {
  constructor(
    private readonly path: GrantPath,
    private readonly guardMs: number,
  ) {}

  send(script: LeaseScript, shared: readonly (string | number)[], asked: readonly Asked[]): void {
    const within = asked.filter(({ ttlMs = 0 }) => ttlMs <= this.guardMs);
    for (const one of asked) if (!within.includes(one)) one.fail(this.refusal(one.ttlMs ?? 0));
    this.path.send(script, shared, within);
  }

  private refusal(ttlMs: number): StoreError {
    const [ttl, guard] = [formatDuration(ttlMs), formatDuration(this.guardMs)];
    const message = `its ttl of ${ttl} is longer than "amnesiaGuard" (${guard}), which must be the longest ttl of the fleet`;
    return new StoreError('fatal', message, { notSent: true });
  }
}
