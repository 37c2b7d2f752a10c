import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import ts from 'typescript';

export const root = join(import.meta.dirname, '..', '..');

/** Path in lib/ without its ending, such as `lease/keep-alive`. */
export type Module = string;

/** Everything below a folder of the project, as paths from the project's root with `/`. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** What each file of lib/ imports, exports from, or refers to by `import()`. */
export function importsOfLib(): Map<Module, string[]> {
  const modules = filesBelow('lib').filter((file) => file.endsWith('.ts'));
  return new Map(
    modules.map((file) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true);
      return [file.slice('lib/'.length, -'.ts'.length), importedFiles.map(({ fileName }) => fileName)];
    }),
  );
}

/** The file of lib/ that a relative import means. */
export const resolveImport = (from: Module, specifier: string): Module => posix.join(posix.dirname(from), specifier).replace(/\.js$/, '');

/** `@nestjs/common` for `@nestjs/common/constants.js`. */
export const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** A way that leads from a node back to itself, or `undefined`. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return undefined;
}
