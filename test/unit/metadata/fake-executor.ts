import type { InjectableLease, LeasedCall, LeaseExecutorPort } from '../../../lib/metadata/leased-call.js';

/** Runs every call at once under a made-up lease and remembers its keys: what the decorators ask of the executor, and no more. */
export class FakeExecutor implements LeaseExecutorPort {
  readonly keys: string[] = [];
  readonly calls: LeasedCall[] = [];
  private token = 0;

  run(call: LeasedCall): Promise<unknown> {
    this.calls.push(call);
    return (async () => {
      this.keys.push(call.key(() => false));
      this.token += 1;
      return call.invoke({ fencingToken: this.token } satisfies InjectableLease);
    })();
  }
}
