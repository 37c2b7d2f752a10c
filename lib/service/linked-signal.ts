import { onAbort } from '../lease/on-abort.js';

/** A signal of its own for one call. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Lets go of the signals it follows, which may live for ever. */
  unlink(): void;
}

/** A signal that also aborts, for the same reason, when one of `sources` does. Unlike `AbortSignal.any()` it leaves nothing behind on them. */
export function linkedSignal(sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  const unlink = (): void => undo.splice(0).forEach((fn) => fn());
  const abort = (reason: unknown): void => {
    unlink();
    controller.abort(reason);
  };
  for (const source of sources) {
    if (source === undefined) continue;
    const follow = (): void => abort(source.reason);
    if (source.aborted) {
      follow();
      break;
    }
    undo.push(onAbort(source, follow));
  }
  return { signal: controller.signal, abort, unlink };
}
