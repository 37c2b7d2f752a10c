import { randomUUID } from 'node:crypto';

/** Proof of ownership, new for each acquisition: secret, never shown or logged. */
export function newHolderId(): string {
  return randomUUID();
}

/**
 * What others may see of a holder's id: a hash of 48 bits as hex digits, so that the 122 random bits of the id stay secret.
 * Made by multiplying, since a cryptographic hash would be the dearest part of an acquire.
 */
export function holderTagOf(holderId: string): string {
  let [high, low] = [0x9e3779b9, 0x85ebca6b];
  for (let i = 0; i < holderId.length; i++) {
    const unit = holderId.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x85ebca77);
  }
  high ^= low >>> 15;
  low ^= high >>> 13;
  return hex(high >>> 0, 8) + hex(low >>> 16, 4);
}

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');
