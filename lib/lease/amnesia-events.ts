import type { LeaseEvents } from '../events/lease-events.js';
import type { LeaseStore } from '../stores/lease-store.js';

/** What a store notices of a server that may have forgotten leases becomes an event. */
export function tellAmnesia(store: LeaseStore, events: LeaseEvents): void {
  store.onNotice?.((notice) => {
    if (notice.kind !== 'amnesia') return;
    const { kind: type, server, reason, uptimeMs, pauseMs } = notice;
    events.emit({ type, server, reason, uptimeMs, pauseMs });
  });
}
