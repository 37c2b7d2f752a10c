import type { AmnesiaNotice, StoreNotice } from '../lease-store.js';

type Listener = (notice: StoreNotice) => void;

/** What a store has to say that concerns no single call. */
export class Notices {
  private readonly listeners = new Set<Listener>();
  private readonly warnings = new Map<string, string>();

  /** Tells the listener also the warnings that were given before; the function returned ends it. */
  on(listener: Listener): () => void {
    this.listeners.add(listener);
    for (const message of this.warnings.values()) listener({ kind: 'warning', message });
    return () => this.listeners.delete(listener);
  }

  /** Once for each subject. */
  warn(subject: string, message: string): void {
    if (this.warnings.has(subject)) return;
    this.warnings.set(subject, message);
    this.tell({ kind: 'warning', message });
  }

  amnesia(notice: Omit<AmnesiaNotice, 'kind'>): void {
    this.tell({ kind: 'amnesia', ...notice });
  }

  private tell(notice: StoreNotice): void {
    for (const listener of this.listeners) listener(notice);
  }
}
