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
  'server-clock-back': (e) => `The store's clock went back by ${ms(e.byMs)}; fencing tokens still increase.`,
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
}

const lease = (e: { key: string; fencingToken: number }): string => `The lease "${e.key}" (fencing token ${String(e.fencingToken)})`;
const ms = (value: number): string => `${String(Math.round(value))} ms`;

function reasonOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
