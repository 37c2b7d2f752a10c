import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const root = new URL('../../../', import.meta.url).pathname;
const page = readFileSync(`${root}docs/jobs.md`, 'utf8');
const examples = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);

it('every TypeScript example of docs/jobs.md compiles', () => {
  const files = new Map(examples.map((text, index) => [`${root}docs/example-${String(index)}.ts`, text]));
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, (file) => readFileSync(file, 'utf8')) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, target, ...rest) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile(file, target, ...rest) : ts.createSourceFile(file, text, target);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const problems = [...files.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  });
  expect(problems.map((problem) => ts.flattenDiagnosticMessageText(problem.messageText, '\n'))).toEqual([]);
  expect(examples.length).toBe(3);
}, 60_000);
