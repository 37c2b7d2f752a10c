import { describe, expect, it } from '@jest/globals';
import { refuseToken } from '../../../../lib/stores/memory/memory-quorum-node.js';
import { explore } from './model.js';

type Refuse = typeof refuseToken;
/** A node that confirms a token without looking whose lease it is. */
const noOwnershipTest: Refuse = (lease, asked) => refuseToken(lease && { ...lease, holderId: asked.holderId }, asked);
/** A node that confirms a token below the one it has granted. */
const noLateTest: Refuse = (lease, asked) => refuseToken(lease && { ...lease, fencingToken: 0 }, asked);

describe('all interleavings of two clients on three nodes', () => {
  it('keep tokens in order, and holders apart', () => {
    const found = explore({ losses: 1 });
    expect(found.violation).toBeUndefined();
    expect(found.states).toBeGreaterThan(20_000);
    expect(found.successes).toBeGreaterThan(1000);
  });

  it('give a token twice where it is written back without asking whose lease it is', () => {
    const { violation } = explore({ losses: 1, refuse: noOwnershipTest });
    expect(violation?.what).toMatch(/^[AB] returns 2 after 2 was returned$/);
    // The token is confirmed at a node for one who does not hold it there.
    expect(violation?.trace).toContain('2 loses the lease of B');
    expect(violation?.trace.at(-1)).toBe('B hears "confirmed" of 2');
  });

  it('give a lower token after a higher one where a grant counts that came later with a higher token', () => {
    const { violation } = explore({ losses: 1, refuse: noLateTest, counts: () => true });
    expect(violation?.what).toMatch(/^[AB] returns 1 after 2 was returned$/);
  });
});
