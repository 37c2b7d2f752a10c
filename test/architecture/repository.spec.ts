import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { filesBelow, root } from './imports.js';

const git = (...args: string[]): string[] => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
/** What is committed, or will be by the next `git add`. */
const files = git('ls-files', '-z', '--cached', '--others', '--exclude-standard').filter((file) =>
  lstatSync(join(root, file), { throwIfNoEntry: false })?.isFile(),
);
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const without = (pattern: RegExp): string[] => files.filter((file) => pattern.test(textOf(file)));

describe('the repository', () => {
  it('reads its own files', () => {
    expect(files).toContain('package.json');
  });

  it('names no folder of the machine on which it was written', () => {
    // Written so that this file does not match itself.
    expect(without(new RegExp(`(?<![\\w.])/(${['work', 'home/[a-z]', 'Users/[a-z]', 'root'].join('|')})/`))).toEqual([]);
  });

  it('has lock files without addresses of a registry', () => {
    const locks = files.filter((file) => file.endsWith('package-lock.json'));
    expect(locks).toContain('package-lock.json');
    expect(locks.filter((file) => /"resolved": "(https?|file):/.test(textOf(file)))).toEqual([]);
  });

  it('carries no credentials', () => {
    expect(without(new RegExp(['_auth' + 'Token', '-----BEGIN [A-Z ]*PRIVATE' + ' KEY', '\\bnpm_' + '[A-Za-z0-9]{36}'].join('|')))).toEqual(
      [],
    );
  });
});

describe('every file of lib/', () => {
  const sources = filesBelow('lib').filter((file) => file.endsWith('.ts'));

  it('has names of its own: no default export', () => {
    expect(sources.filter((file) => /^export default|\bas default\b/m.test(textOf(file)))).toEqual([]);
  });

  it('keeps no state in its module, so that two applications in one process are strangers', () => {
    const found = sources.flatMap((file) =>
      ts
        .createSourceFile(file, textOf(file), ts.ScriptTarget.ES2022)
        .statements.flatMap(stateIn)
        .map((name) => `${file}: ${name}`),
    );
    expect(found).toEqual([]);
  });
});

/** A `let`, an empty collection that can only be meant to be filled, or a static property that is not read-only. */
function stateIn(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    const { declarations, flags } = statement.declarationList;
    return declarations.filter((declared) => (flags & ts.NodeFlags.Const ? startsEmpty(declared) : !isFriend(declared))).map(nameOf);
  }
  if (!ts.isClassDeclaration(statement)) return [];
  return statement.members
    .filter(ts.isPropertyDeclaration)
    .filter(({ modifiers }) => has(modifiers, ts.SyntaxKind.StaticKeyword) && !has(modifiers, ts.SyntaxKind.ReadonlyKeyword))
    .map(nameOf);
}

const nameOf = ({ name }: ts.NamedDeclaration): string => (name && ts.isIdentifier(name) ? name.text : 'something');
const has = (modifiers: readonly ts.ModifierLike[] | undefined, kind: ts.SyntaxKind): boolean =>
  modifiers?.some((m) => m.kind === kind) ?? false;
/** `let open: (box: Box) => Secret;`, which a static block of the class fills once: how a file's functions reach private members. */
const isFriend = ({ initializer, type }: ts.VariableDeclaration): boolean =>
  !initializer && type !== undefined && ts.isFunctionTypeNode(type);
const startsEmpty = ({ initializer }: ts.VariableDeclaration): boolean =>
  initializer !== undefined &&
  ((ts.isNewExpression(initializer) &&
    /^(Map|Set)$/.test((initializer.expression as ts.Identifier).text) &&
    !initializer.arguments?.length) ||
    (ts.isArrayLiteralExpression(initializer) && initializer.elements.length === 0));
