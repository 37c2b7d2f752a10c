import { afterAll, beforeAll, describe } from '@jest/globals';
import { acquireContract } from './suite/acquire.contract.js';
import { clockContract } from './suite/clock.contract.js';
import { effectsContract } from './suite/effects.contract.js';
import type { Features, MakeHarness, StoreHarness } from './suite/harness.js';
import { instantsContract } from './suite/instants.contract.js';
import { jobsContract } from './suite/jobs.contract.js';
import { keysContract } from './suite/keys.contract.js';
import { lineContract } from './suite/line.contract.js';
import { modelContract } from './suite/model.contract.js';
import { operatorContract } from './suite/operator.contract.js';
import { releaseContract } from './suite/release.contract.js';
import { renewContract } from './suite/renew.contract.js';
import { strangeDataContract } from './suite/strange-data.contract.js';
import { tokenContract } from './suite/token.contract.js';

export type { Features, MakeHarness, StoreHarness } from './suite/harness.js';

/**
 * What every lease store must do, in one suite. A store is covered by one spec file that calls this:
 *
 * ```ts
 * describeLeaseStore('memory', makeMemoryHarness, { virtualTime: true });
 * ```
 *
 * One harness serves the whole suite and every test uses keys of its own, so nothing needs to be flushed between tests.
 */
export function describeLeaseStore(name: string, makeHarness: MakeHarness, features: Features = {}): void {
  describe(`lease store: ${name}`, () => {
    let current: StoreHarness | undefined;
    beforeAll(async () => {
      current = await makeHarness();
    });
    afterAll(async () => {
      await current?.close();
    });
    const harness = (): StoreHarness => {
      if (current === undefined) throw new Error('The harness is made in beforeAll: ask for it inside a test.');
      return current;
    };
    acquireContract(harness, features);
    renewContract(harness, features);
    releaseContract(harness);
    operatorContract(harness, makeHarness, features);
    tokenContract(harness, features);
    clockContract(harness, features);
    keysContract(harness, features);
    strangeDataContract(harness, features);
    modelContract(harness, features);
    if (features.line !== false) lineContract(harness, features);
    if (features.instants !== false) instantsContract(harness, features);
    if (features.effects !== false) effectsContract(harness, features);
    if (features.jobs !== false) jobsContract(harness, features);
  });
}
