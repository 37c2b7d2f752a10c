import { expect, it } from '@jest/globals';
import { passFence, type FencingGuard } from 'nestjs-lease/fencing';
import { EPOCH, Holder } from './stories.js';

type Writer = readonly [token: number, tag: string];

/** The rule as a table: what a resource has accepted, who comes, and whether it may pass. */
const CASES: readonly (readonly [accepted: Writer | undefined, comes: Writer, passes: boolean])[] = [
  [undefined, [1, 'a'], true],
  [undefined, [Number.MAX_SAFE_INTEGER, 'a'], true],
  [[EPOCH, 'a'], [EPOCH, 'a'], true],
  [[EPOCH, 'a'], [EPOCH, 'b'], false],
  [[EPOCH, 'a'], [EPOCH, 'A'], false],
  [[EPOCH, 'a'], [EPOCH + 1, 'b'], true],
  [[EPOCH, 'a'], [EPOCH + 1, 'a'], true],
  [[EPOCH, 'a'], [EPOCH - 1, 'b'], false],
  [[EPOCH, 'a'], [EPOCH - 1, 'a'], false],
  // Neither as text ('9' > '10') nor as a float of 32 bits.
  [[9, 'a'], [10, 'b'], true],
  [[10, 'a'], [9, 'b'], false],
  [[2 ** 31, 'a'], [2 ** 31 - 1, 'b'], false],
  [[Number.MAX_SAFE_INTEGER - 1, 'a'], [Number.MAX_SAFE_INTEGER, 'b'], true],
  [[Number.MAX_SAFE_INTEGER, 'a'], [Number.MAX_SAFE_INTEGER - 1, 'b'], false],
  // Tags are compared whole and as they are.
  [[EPOCH, 'a:1'], [EPOCH, 'a'], false],
  [[EPOCH, 'a'], [EPOCH, 'a:1'], false],
  [[EPOCH, '%s'], [EPOCH, '%s'], true],
];

/** Holds a guard against the rule; each case on a resource of its own. */
export function ruleCases(guard: () => FencingGuard): void {
  it.each(CASES.map((one, index) => [index, ...one] as const))(
    'the rule, case %#: %j accepted, %j comes',
    async (index, accepted, comes, passes) => {
      const resource = `rule ${String(index)}`;
      if (accepted) await guard().accept(resource, ...accepted);
      const lease = new Holder(...comes);
      const verdict = passFence(guard(), resource, lease);
      if (passes) {
        await verdict;
        await expect(guard().accept(resource, comes[0], `${comes[1]}!`)).rejects.toMatchObject({
          code: 'FENCING_TOKEN_STALE',
          current: comes[0],
        });
      } else {
        await expect(verdict).rejects.toMatchObject({
          code: 'FENCING_TOKEN_STALE',
          resource,
          fencingToken: comes[0],
          current: accepted?.[0],
        });
        expect(lease.refusals).toHaveLength(1);
        // What was refused has changed nothing.
        if (accepted) await guard().accept(resource, ...accepted);
      }
    },
  );
}
