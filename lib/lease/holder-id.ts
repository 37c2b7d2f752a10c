import { hash, randomUUID } from 'node:crypto';

/** Proof of ownership, new for each acquisition: secret, never shown or logged. */
export function newHolderId(): string {
  return randomUUID();
}

/** What others may see of a holder's id: the first 12 hex digits of its SHA-256. */
export function holderTagOf(holderId: string): string {
  return hash('sha256', holderId, 'hex').slice(0, 12);
}
