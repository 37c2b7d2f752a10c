import { LeaseOptionsError } from '../errors/lease-options.error.js';
import type { EngineParts } from './engine-parts.js';
import { leaseHandle, type Lease } from './lease.js';

/**
 * The release of this lease, whoever makes it, will leave the key taken by nobody for `cooldownMs`.
 * @throws LeaseOptionsError where the store cannot do that
 */
export function coolDownAtRelease(engine: EngineParts, lease: Lease, cooldownMs: number): void {
  const { jobs, capabilities } = engine.store;
  if (!jobs) throw new LeaseOptionsError('retryAfter', `The store ${capabilities.name} cannot keep a key taken by nobody (retryAfter).`);
  const { core } = leaseHandle(lease);
  const { key, holderId, fencingToken } = core;
  const release = (): Promise<{ kind: 'released' | 'not-held' }> => jobs.coolDown({ key, holderId, fencingToken, cooldownMs });
  core.giveBack = { release, again: release };
}
