import { leaseScript } from './lease-script.js';
import { EXTEND, keepFence, READ_LEASE } from './lua-parts.js';

/**
 * Extends each lease that its holder still has, then heals and refreshes its fence. Never creates a lease, never shortens one.
 *
 * KEYS for each lease: lease, fence
 * ARGV: retention; for each lease: holderId, ttl, token
 * Reply for each lease: 1 held | 0 gone | {'taken', token} | {'foreign', 'lease'}
 */
export const renewScript = leaseScript({
  name: 'renew',
  keys: ['lease', 'fence'],
  shared: ['retention'],
  args: ['holderId', 'ttl', 'token'],
  each: `
  ${READ_LEASE.trim()}
  if owner ~= holderId then return { 'taken', tonumber(own) } end
  ${EXTEND.trim()}
  ${keepFence('longest').trim()}
  return 1`,
});
