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
    const within: Asked[] = [];
    for (const one of asked) {
      const { ttlMs = 0 } = one;
      if (ttlMs <= this.guardMs) within.push(one);
      else one.fail(this.refusal(ttlMs));
    }
    this.path.send(script, shared, within);
  }

  private refusal(ttlMs: number): StoreError {
    const [ttl, guard] = [formatDuration(ttlMs), formatDuration(this.guardMs)];
    const message = `its ttl of ${ttl} is longer than "amnesiaGuard" (${guard}), which must be the longest ttl of the fleet`;
    return new StoreError('fatal', message, { notSent: true });
  }
}
