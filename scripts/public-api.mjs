import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { entryPoints } from './entry-points.mjs';
import { root } from './run.mjs';

/** The reviewed list of all that a user can import. */
export const PUBLIC_API_FILE = join(root, 'test/architecture/public-api.txt');

/**
 * What each entry point exports, by the compiler: name, kind, and whether the declaration has a docstring.
 * @returns {{ subPath: string, names: { name: string, kind: string, documented: boolean }[] }[]}
 */
export function publicApi() {
  const points = entryPoints().map(({ subPath, file }) => ({ subPath, file: join(root, 'lib', `${file}.ts`) }));
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config, ts.sys, root);
  const program = ts.createProgram(
    points.map(({ file }) => file),
    options,
  );
  const checker = program.getTypeChecker();
  return points.map(({ subPath, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (!module) throw new Error(`${file} exports nothing.`);
    const names = checker.getExportsOfModule(module).map((symbol) => describe(symbol, checker));
    return { subPath, names: names.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  });
}

function describe(symbol, checker) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return { name: symbol.name, kind: kindOf(target), documented: target.getDocumentationComment(checker).length > 0 };
}

function kindOf({ flags }) {
  const kinds = [
    [ts.SymbolFlags.Class, 'class'],
    [ts.SymbolFlags.Function, 'function'],
    [ts.SymbolFlags.Enum, 'enum'],
    [ts.SymbolFlags.Variable, 'const'],
    [ts.SymbolFlags.Interface, 'interface'],
    [ts.SymbolFlags.TypeAlias, 'type'],
  ];
  return kinds
    .filter(([flag]) => flags & flag)
    .map(([, kind]) => kind)
    .join('+');
}

/** The text of {@link PUBLIC_API_FILE}: one line for each name. */
export function renderPublicApi(api = publicApi()) {
  const section = ({ subPath, names }) =>
    [`# nestjs-lease${subPath.slice(1)}`, ...names.map(({ name, kind }) => `${name}  ${kind}`)].join('\n');
  return `${api.map(section).join('\n\n')}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(PUBLIC_API_FILE, renderPublicApi());
