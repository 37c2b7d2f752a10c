import { project } from './jest.config.mjs';

/** `npm run test:pack`: the packed tarball, installed and loaded by the applications of test/consumers. Needs the npm registry. */
export default {
  ...project('consumers'),
  displayName: 'pack',
  testMatch: ['<rootDir>/test/consumers/*.spec.ts'],
  testTimeout: 300_000,
};
