/** One project for each kind of test, so that `npm test -- --selectProjects unit` runs one kind alone. */
export const kinds = ['architecture', 'unit', 'contract', 'integration', 'e2e', 'chaos'];
const withRedis = new Set(['contract', 'integration', 'e2e', 'chaos']);

/** @param {string} kind the folder under test/, and the name of the project */
export const project = (kind) => ({
  displayName: kind,
  rootDir: import.meta.dirname,
  testMatch: [`<rootDir>/test/${kind}/**/*.spec.ts`],
  testPathIgnorePatterns: ['/node_modules/', '/test/consumers/[^/]+/', '/peers/'],
  modulePathIgnorePatterns: ['<rootDir>/test/consumers/', '<rootDir>/test/bench/peers/', '<rootDir>/dist/', '<rootDir>/dist-sample/'],
  ...(withRedis.has(kind) ? { globalSetup: '<rootDir>/test/support/global-setup.mjs' } : {}),
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^nestjs-lease$': '<rootDir>/lib/index.ts',
    '^nestjs-lease/(.*)$': '<rootDir>/lib/$1/index.ts',
  },
  transform: { '^.+\\.ts$': ['ts-jest', { useESM: true }] },
});

export default {
  coverageProvider: 'v8',
  projects: kinds.map(project),
};
