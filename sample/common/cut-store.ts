import { FaultyLeaseStore, type StoreVerb } from 'nestjs-lease/testing';

const VERBS: readonly StoreVerb[] = [
  ...(['acquire', 'renew', 'release', 'leave', 'attend', 'inspect', 'acquireFirst', 'coolDown'] as const),
  ...(['findEffect', 'startEffect', 'settleEffect'] as const),
];

/** A store that one replica in this process can be cut off from, as if it were frozen or gone. */
export class CutStore extends FaultyLeaseStore {
  /** From now on no call arrives. */
  cut(): void {
    for (const verb of VERBS) this.dropRequest(verb, Infinity);
  }
}
