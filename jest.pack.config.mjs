import { project } from './jest.config.mjs';

const base = project('consumers');

/** `npm run test:pack`: the packed tarball, installed and loaded by the applications of test/consumers. Needs the npm registry. */
export default {
  ...base,
  displayName: 'pack',
  testMatch: ['<rootDir>/test/consumers/pack.spec.ts'],
  modulePathIgnorePatterns: [
    ...base.modulePathIgnorePatterns.filter((pattern) => !pattern.includes('consumers')),
    '<rootDir>/test/consumers/[^/]+/',
  ],
  testTimeout: 300_000,
};
