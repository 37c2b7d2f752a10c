import type { StoreError } from '../lease-store.js';
import { toStoreError } from '../to-store-error.js';

/** What one node has said: its answer, or why there is none. */
export type Answer<T> = { readonly value: T; readonly error?: never } | { readonly value?: never; readonly error: StoreError };

/**
 * Asks all nodes at once and settles with the first decision that their answers allow, in order of the nodes; `undefined` for one
 * that has not answered yet. When all have, `complete` is true and there must be a decision, or an error is thrown.
 */
export function gather<T, R>(
  calls: readonly Promise<T>[],
  decide: (answers: readonly (Answer<T> | undefined)[], complete: boolean) => R | undefined,
): Promise<R> {
  return new Promise<R>((resolve, reject) => {
    const answers = new Array<Answer<T> | undefined>(calls.length).fill(undefined);
    let left = calls.length;
    const put = (i: number, answer: Answer<T>): void => {
      answers[i] = answer;
      left -= 1;
      try {
        const decision = decide(answers, left === 0);
        if (decision !== undefined) resolve(decision);
      } catch (error) {
        reject(error);
      }
    };
    calls.forEach((call, i) => {
      call.then(
        (value) => put(i, { value }),
        (error: unknown) => put(i, { error: toStoreError(error) }),
      );
    });
  });
}
