/** One project for each kind of test, so that `npm test -- --selectProjects unit` runs one kind alone. */
const kinds = ['architecture', 'unit', 'contract', 'integration', 'e2e', 'chaos'];

const project = (kind) => ({
  displayName: kind,
  rootDir: import.meta.dirname,
  testMatch: [`<rootDir>/test/${kind}/**/*.spec.ts`],
  testPathIgnorePatterns: ['/node_modules/', '/consumers/', '/peers/'],
  modulePathIgnorePatterns: ['<rootDir>/test/consumers/', '<rootDir>/test/bench/peers/', '<rootDir>/dist/'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['ts-jest', { useESM: true }] },
});

export default {
  coverageProvider: 'v8',
  projects: kinds.map(project),
};
