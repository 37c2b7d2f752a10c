/** For Jest's `setupFiles`: the tests of this project start the server that it names. */
process.env.LEASE_TEST_REDIS = globalThis.LEASE_TEST_SERVER;
