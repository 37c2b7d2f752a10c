import type { LeaseEvent, LeaseEventOf, LeaseEventType } from './lease-event.js';

type Listener = (event: LeaseEvent) => void;

/** Where the events of one lease service go. Injectable. A listener that throws disturbs nobody: it is reported and passed over. */
export class LeaseEvents {
  private readonly listeners = new Map<LeaseEventType, Set<Listener>>();

  constructor(private readonly onListenerError: (error: unknown, event: LeaseEvent) => void = () => undefined) {}

  /** Calls `fn` with each event of this type, synchronously; the function returned ends it. */
  on<T extends LeaseEventType>(type: T, fn: (event: LeaseEventOf<T>) => void): () => void {
    const listener: Listener = (event) => fn(event as LeaseEventOf<T>);
    const set = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, set.add(listener));
    return () => set.delete(listener);
  }

  /** True when somebody listens: saves building an event for nobody. */
  has(type: LeaseEventType): boolean {
    return (this.listeners.get(type)?.size ?? 0) > 0;
  }

  /** For this library and its stores. */
  emit(event: LeaseEvent): void {
    for (const listener of this.listeners.get(event.type) ?? []) {
      try {
        listener(event);
      } catch (error) {
        this.onListenerError(error, event);
      }
    }
  }
}
