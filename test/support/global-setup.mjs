import { findRedisServer } from './find-redis-server.mjs';

/** For Jest's `globalSetup`: finds (or installs) Redis once, before the workers start; they inherit the variable. */
export default function globalSetup() {
  process.env.LEASE_TEST_REDIS = findRedisServer();
}
