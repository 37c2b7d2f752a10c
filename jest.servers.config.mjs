import { project } from './jest.config.mjs';
import { findServers } from './test/support/find-servers.mjs';

/** `npm run test:servers`: the contract of a store once more on each server that is there, as a project of its name. */
export default {
  projects: findServers()
    .filter(({ program }) => program)
    .map(({ program, title }) => ({
      ...project('contract'),
      displayName: title,
      testMatch: ['<rootDir>/test/contract/redis.spec.ts'],
      globalSetup: undefined,
      globals: { LEASE_TEST_SERVER: program },
      setupFiles: ['<rootDir>/test/support/use-server.mjs'],
    })),
};
