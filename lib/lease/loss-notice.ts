import type { LeaseLostError } from '../errors/lease-lost.error.js';

/** Who can be lost. */
export interface Losable {
  readonly lost: LeaseLostError | undefined;
  /** Looks at the clock. */
  check(): unknown;
}

/**
 * How a holder is told of a loss: an `AbortSignal` and a promise, each made when first asked for, since most handlers use
 * neither and a process may hold many leases.
 */
export class LossNotice {
  private controller: AbortController | undefined;
  private promise: Promise<LeaseLostError> | undefined;
  private resolve: ((error: LeaseLostError) => void) | undefined;

  constructor(private readonly core: Losable) {}

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      computeAborted(this.controller.signal, this.core);
      if (this.core.lost) this.controller.abort(this.core.lost);
    }
    return this.controller.signal;
  }

  get lost(): Promise<LeaseLostError> {
    this.promise ??= this.core.lost ? Promise.resolve(this.core.lost) : new Promise((resolve) => (this.resolve = resolve));
    return this.promise;
  }

  tell(error: LeaseLostError): void {
    this.resolve?.(error);
    this.controller?.abort(error);
  }
}

/**
 * A blocked event loop fires no timer, so `aborted` and `throwIfAborted` look at the clock first. What listens to the signal
 * (`AbortSignal.any`, event listeners) hears of the loss only when the loop runs again.
 */
function computeAborted(signal: AbortSignal, core: Losable): void {
  const isAborted = (): boolean => Reflect.get(AbortSignal.prototype, 'aborted', signal);
  const throwIfAborted = signal.throwIfAborted.bind(signal);
  Object.defineProperties(signal, {
    aborted: {
      configurable: true,
      get: () => {
        core.check();
        return isAborted();
      },
    },
    throwIfAborted: {
      configurable: true,
      value: () => {
        core.check();
        throwIfAborted();
      },
    },
  });
}
