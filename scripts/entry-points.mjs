import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/**
 * What a user can import: the root, and a sub-path for each room of lib/ that has an index.ts. Nothing else lists them, so that
 * nobody forgets one: package.json is written from here (`npm run exports`), and a test holds it against this.
 */
export function entryPoints() {
  const rooms = readdirSync(join(root, 'lib'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, 'lib', entry.name, 'index.ts')))
    .map((entry) => entry.name)
    .sort();
  return [{ subPath: '.', file: 'index' }, ...rooms.map((room) => ({ subPath: `./${room}`, file: `${room}/index` }))];
}

/**
 * `exports` and `typesVersions` of package.json. `module-sync` first: it gives `require` and `import` the same classes.
 * @returns {{ exports: Record<string, string | Record<string, Record<string, string>>>, typesVersions: Record<string, Record<string, string[]>> }}
 */
export function exportFields() {
  const points = entryPoints();
  const built = (kind, file) => ({ types: `./dist/${kind}/${file}.d.ts`, default: `./dist/${kind}/${file}.js` });
  const exports = Object.fromEntries(
    points.map(({ subPath, file }) => [
      subPath,
      { 'module-sync': built('esm', file), import: built('esm', file), require: built('cjs', file) },
    ]),
  );
  // For the resolution of types that does not read `exports` (`moduleResolution: node10`, still common in NestJS 11 projects).
  const typesVersions = {
    '*': Object.fromEntries(points.slice(1).map(({ subPath, file }) => [subPath.slice(2), [`./dist/cjs/${file}.d.ts`]])),
  };
  return { exports: { ...exports, './package.json': './package.json' }, typesVersions };
}

export const readPackage = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** True when package.json says what {@link exportFields} says. */
export function exportsAreCurrent() {
  const { exports, typesVersions } = readPackage();
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const fields = exportFields();
  return same(exports, fields.exports) && same(typesVersions, fields.typesVersions);
}
