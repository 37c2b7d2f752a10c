import type { LoggerService } from '@nestjs/common';
import type { LeaseEventOf, LeaseEventType } from '../events/lease-event.js';
import type { LeaseEvents } from '../events/lease-events.js';

/** The part of Nest's `Logger` that is used here. */
export type LeaseLogger = Required<Pick<LoggerService, 'warn' | 'error' | 'debug' | 'log'>>;

type Sentences = { [T in LeaseEventType]?: (event: LeaseEventOf<T>) => string };

/** What an operator must know. The secret `holderId` is in no event, and so in no line. */
const WARNINGS: Sentences = {
  jeopardy: (e) => `${lease(e)} was not renewed (${reasonOf(e.error)}); it is tried again, and lost in ${ms(e.remainingMs)} at the latest.`,
  lost: (e) => `${lease(e)} was lost (${e.reason}) after ${ms(e.heldMs)}; its handler was told by the signal.`,
  'release-failed': (e) => `${lease(e)} was not released: ${e.detail}${e.error === undefined ? '' : ` (${reasonOf(e.error)})`}.`,
  unsettled: (e) =>
    `${lease(e)} is still in use after ${ms(e.heldMs)}, grace and abort of the shutdown are over: it is left to its ttl, and the handler to its fate.`,
  stalled: (e) =>
    `The event loop stood still for ${ms(e.stalledMs)}, too long for a ttl of ${ms(e.ttlMs)}: shorten the synchronous work, or give a ttl of ${ms(e.safeTtlMs)} or more.`,
  'instant-unavailable': (e) =>
    `The job "${e.key}" was not run here at ${at(e.instant)}: the store could not be asked until the next instant (${reasonOf(e.error)}).`,
  'schedule-mismatch': (e) =>
    `The job "${e.key}" is scheduled as "${e.ours}" here and as "${e.theirs}" on another replica: each follows its own, and it may run more or less often than meant. Deploy one schedule, with the same timeZone, everywhere.`,
  amnesia: (e) =>
    `The store at ${e.server} ${AMNESIA[e.reason]} (up for ${ms(e.uptimeMs)}): it may have forgotten leases whose holders are still at work. ` +
    (e.pauseMs > 0
      ? `No lease of it is granted here for ${ms(e.pauseMs)}; what is held is renewed.`
      : 'They learn it at their next renewal; until then only the fencing token protects what they write. Set amnesiaGuard to wait for them.'),
  'server-clock-back': (e) => `The store's clock went back by ${ms(e.byMs)}; fencing tokens still increase.`,
};

const AMNESIA: Record<LeaseEventOf<'amnesia'>['reason'], string> = {
  restarted: 'has restarted',
  promoted: 'is a replica that was promoted, and may have missed the last writes',
  replaced: 'is not the server it was',
  started: 'has started a short while ago',
};

/** Tells the log what happens to leases; a busy key is an ordinary answer and no more than a debug line. */
export function logLeaseEvents(events: LeaseEvents, logger: LeaseLogger): void {
  for (const type of Object.keys(WARNINGS) as (keyof typeof WARNINGS)[]) {
    const sentence = WARNINGS[type] as (event: LeaseEventOf<typeof type>) => string;
    events.on(type, (event) => {
      logger.warn(sentence(event));
    });
  }
  events.on('busy', (e) => {
    logger.debug(`The lease "${e.key}" is busy${e.holder === undefined ? '' : `, held by ${e.holder}`}; waited ${ms(e.waitedMs)}.`);
  });
  logRuns(events, logger);
}

function logRuns(events: LeaseEvents, logger: LeaseLogger): void {
  const by = (e: { holder?: string }): string => (e.holder === undefined ? '' : ` by ${e.holder}`);
  events.on('skipped', (e) => {
    logger.debug(`The job "${e.key}" is not run here at ${at(e.instant)}: ${e.state}${by(e)}.`);
  });
  events.on('run-failed', (e) => {
    const stack: unknown = typeof e.error === 'object' && e.error !== null && 'stack' in e.error ? e.error.stack : undefined;
    logger.error(`The job "${e.key}" failed at ${at(e.instant)} after ${ms(e.heldMs)}: ${reasonOf(e.error)}`, stack);
  });
  events.on('instant-missed', (e) => {
    const many = e.missed === 1 ? '1 instant' : `${String(e.missed)} instants`;
    const why = e.reason === 'down' ? `nobody was there (${many})` : `the lease is held${by(e)}, which has cost ${many} so far`;
    const line = `The job "${e.key}" was not run at ${at(e.instant)}: ${why}.`;
    // A long run of a frequent job misses many: the first is told, and the count is in the history.
    if (e.reason === 'held' && e.missed > 1) logger.debug(line);
    else logger.warn(line);
  });
}

const at = (instant: number): string => new Date(instant).toISOString();
const lease = (e: { key: string; fencingToken: number }): string => `The lease "${e.key}" (fencing token ${String(e.fencingToken)})`;
const ms = (value: number): string => `${String(Math.round(value))} ms`;

function reasonOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
