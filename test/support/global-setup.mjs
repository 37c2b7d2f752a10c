import { findRedisServer } from './find-redis-server.mjs';

/**
 * For Jest's `globalSetup`: finds (or installs) Redis once, before the workers start; they inherit the variable. When nothing is
 * left to do the process ends by `process.exit()`: left to itself, Node 20 at times waits for ever for the pipe of a child that was
 * killed, in its own clean-up. What a test has left open still keeps Jest from ending, and shows.
 */
export default function globalSetup() {
  process.env.LEASE_TEST_REDIS = findRedisServer();
  process.once('beforeExit', () => process.exit());
}
