import { project } from './jest.config.mjs';

const { modulePathIgnorePatterns, ...e2e } = project('e2e');

/** `npm run test:nest11`: the end-to-end tests once more, with the NestJS 11, schedule 6 and ioredis 5 of test/consumers/nest11. */
export default {
  ...e2e,
  displayName: 'e2e on NestJS 11',
  testMatch: [...e2e.testMatch, '<rootDir>/test/consumers/nest11.spec.ts'],
  // These start programs of their own, which Node resolves and not Jest; and what they show is the same on both.
  testPathIgnorePatterns: [...e2e.testPathIgnorePatterns, '/test/e2e/readme/', '/test/e2e/samples/'],
  resolver: '<rootDir>/test/consumers/nest11-resolver.cjs',
  modulePathIgnorePatterns: modulePathIgnorePatterns.filter((pattern) => !pattern.includes('consumers')),
  haste: { throwOnModuleCollision: false },
};
