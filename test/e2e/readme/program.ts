import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { root, type Block } from './blocks.js';

const GENERATED = join(root, 'dist-sample/readme');
const HARNESSES = join(root, 'test/e2e/readme/examples');
/** The README shows no imports of these. */
const FRAMEWORK: Readonly<Record<string, readonly string[]>> = {
  '@nestjs/common': ['Controller', 'Injectable', 'Module', 'type OnModuleInit', 'Param', 'Post'],
  '@nestjs/testing': ['Test'],
};

/** Where the runner is found after `compileExamples`. */
export const RUNNER = join(GENERATED, 'out/test/e2e/readme/run-examples.js');

/**
 * Makes a module of each block, with the imports that the README leaves out, and compiles all of them in one program together
 * with their harnesses. Gives the compiler's complaints, by line of the README where they are about a block.
 */
export function compileExamples(blocks: readonly Block[], replace: (text: string) => string): string[] {
  rmSync(GENERATED, { recursive: true, force: true });
  mkdirSync(join(GENERATED, 'src'), { recursive: true });
  const library = namesOf(join(root, 'lib/index.ts'));
  for (const block of blocks) writeFileSync(fileOf(block), moduleOf({ ...block, text: replace(block.text) }, library));

  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) => readFileSync(file, 'utf8')) as {
    config: { compilerOptions: object };
  };
  const parsed = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const options: ts.CompilerOptions = {
    ...parsed.options,
    noEmit: false,
    allowJs: false,
    paths: {},
    rootDir: root,
    outDir: join(GENERATED, 'out'),
  };
  const program = ts.createProgram([...blocks.map(fileOf), join(HARNESSES, '../run-examples.ts'), ...blocks.map(harnessOf)], options);
  const { diagnostics } = program.emit();
  return [...ts.getPreEmitDiagnostics(program), ...diagnostics].map((one) => describe(one, blocks));
}

export const harnessOf = ({ name }: Block): string => join(HARNESSES, `${name}.ts`);
const fileOf = ({ name }: Block): string => join(GENERATED, 'src', `${name}.ts`);

/** On its first line the imports, then the block as it is, then exports of what it declares, for the harness. */
function moduleOf({ name, text, kind }: Block, library: readonly string[]): string {
  if (kind !== 'example') return `export const text = ${JSON.stringify(text)};\n`;
  const source = ts.createSourceFile('block.ts', text, ts.ScriptTarget.ES2022, true);
  const declared = new Set(source.statements.flatMap(declaredBy));
  const exported = new Set(source.statements.filter(isExported).flatMap(declaredBy));
  const imported = new Set(source.statements.filter(ts.isImportDeclaration).flatMap(importedBy));
  const used = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) used.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  const free = (entry: string): boolean => {
    const bare = entry.replace('type ', '');
    return used.has(bare) && !declared.has(bare) && !imported.has(bare);
  };
  const ofHarness = namesOf(join(HARNESSES, `${name}.ts`)).filter((entry) => entry !== 'check' && free(entry));
  const from = (specifier: string, names: readonly string[]): string =>
    names.length === 0 ? '' : `import { ${names.join(', ')} } from '${specifier}'; `;
  const head = [
    ...Object.entries(FRAMEWORK).map(([specifier, names]) => from(specifier, names.filter(free))),
    from(
      'nestjs-lease',
      library.filter((entry) => free(entry) && !ofHarness.includes(entry)),
    ),
    from(`../../../test/e2e/readme/examples/${name}.js`, ofHarness),
  ].join('');
  const rest = [...declared].filter((entry) => !exported.has(entry));
  return `${head}\n${text}\nexport { ${rest.join(', ')} };\n`;
}

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) && (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);

function declaredBy(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText());
  const named = ts.isClassDeclaration(statement) || ts.isFunctionDeclaration(statement);
  return named && statement.name ? [statement.name.text] : [];
}

function importedBy({ importClause }: ts.ImportDeclaration): string[] {
  const bindings = importClause?.namedBindings;
  return bindings && ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : [];
}

/** What a file exports by name. */
function namesOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
  return source.statements.flatMap((statement) => {
    if (isExported(statement)) return declaredBy(statement);
    if (!ts.isExportDeclaration(statement) || !statement.exportClause || !ts.isNamedExports(statement.exportClause)) return [];
    return statement.exportClause.elements.map(({ name }) => name.text);
  });
}

function describe({ file, start = 0, messageText }: ts.Diagnostic, blocks: readonly Block[]): string {
  const message = ts.flattenDiagnosticMessageText(messageText, ' ');
  if (file === undefined) return message;
  const { line } = file.getLineAndCharacterOfPosition(start);
  const block = blocks.find((one) => fileOf(one) === file.fileName);
  return block ? `README.md:${block.line + line - 1}: ${message}` : `${relative(root, file.fileName)}:${line + 1}: ${message}`;
}
