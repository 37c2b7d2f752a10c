import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const useClock = 'Take the time from the Clock of lib/time/clock.ts: tests move it, and it never keeps the process alive.';
const noDefaultExport = { selector: 'ExportDefaultDeclaration', message: 'Export by name: the public surface is a list of names.' };

export default defineConfig(
  { ignores: ['dist/', 'dist-sample/', 'coverage/', 'test/consumers/*/', 'test/bench/peers/', 'test/types/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: true, attributes: false } }],
      // Constructor types of decorated classes must stay values, or Nest cannot inject them: with emitDecoratorMetadata this rule leaves files with decorators alone.
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false }],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/unified-signatures': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // `Promise.reject(error)` hands on what somebody else threw, whatever it is.
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/only-throw-error': 'off',
      // `as string` after a check by hand says what is meant better than `!`.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      '@typescript-eslint/prefer-nullish-coalescing': 'off',
      // `{ logger: false }` for the options of Nest, which are declared as classes; `void call()` whatever the call returns.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['lib/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', noDefaultExport],
      'max-lines': ['error', { max: 250 }],
      'max-lines-per-function': ['error', { max: 40, skipComments: true, skipBlankLines: true }],
    },
  },
  {
    files: ['lib/lease/**/*.ts', 'lib/stores/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval', 'setImmediate', 'performance'].map((name) => ({ name, message: useClock })),
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: ['timers', 'node:timers', 'timers/promises', 'node:timers/promises', 'perf_hooks', 'node:perf_hooks'].map((name) => ({
            name,
            message: useClock,
          })),
        },
      ],
      'no-restricted-properties': ['error', { object: 'process', property: 'hrtime', message: useClock }],
      'no-restricted-syntax': [
        'error',
        noDefaultExport,
        { selector: 'CallExpression[callee.object.name="Date"][callee.property.name="now"]', message: useClock },
        { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: useClock },
        { selector: 'MemberExpression[object.name="globalThis"]', message: useClock },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'sample/**/*.ts'],
    rules: {
      'no-console': 'off',
      '@typescript-eslint/dot-notation': 'off', // private members, on purpose
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        console: 'readonly',
        process: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        require: 'readonly',
        module: 'writable',
      },
    },
  },
  prettier,
);
