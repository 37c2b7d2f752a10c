import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { exportFields, readPackage } from '../../scripts/entry-points.mjs';
import { PUBLIC_API_FILE, publicApi, renderPublicApi } from '../../scripts/public-api.mjs';

describe('what a user can import', () => {
  const api = publicApi();

  it('package.json lists the entry points of lib/ (to update it: npm run exports)', () => {
    const { exports, typesVersions } = readPackage() as ReturnType<typeof exportFields>;
    expect({ exports, typesVersions }).toEqual(exportFields());
  });

  it('the conditions stand in the order in which they must be tried', () => {
    for (const conditions of Object.values(exportFields().exports)) {
      if (typeof conditions === 'string') continue; // ./package.json
      expect(Object.keys(conditions)).toEqual(['module-sync', 'import', 'require']);
      for (const targets of Object.values(conditions)) expect(Object.keys(targets)).toEqual(['types', 'default']);
    }
  });

  it('every name is in the reviewed list, and nothing else (to update it: npm run api, and read the difference)', () => {
    expect(renderPublicApi(api)).toBe(readFileSync(PUBLIC_API_FILE, 'utf8'));
  });

  it('every exported name has a docstring', () => {
    const missing = api.flatMap(({ subPath, names }) =>
      names.filter(({ documented }) => !documented).map(({ name }) => `${subPath} ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('nothing is exported by default', () => {
    expect(api.flatMap(({ subPath, names }) => names.filter(({ name }) => name === 'default').map(() => subPath))).toEqual([]);
  });
});
