/* eslint-disable @typescript-eslint/no-implied-eval -- source text that no compiler has touched */
import { describe, expect, it } from '@jest/globals';
import { isUsableName, sourceParameters } from '../../../lib/metadata/parameter-names.js';

type Fn = (...args: never[]) => unknown;
/** Methods as an engine prints them, without a compiler in between. */
const methodOf = (source: string): Fn => Object.values(new Function(`return { ${source} }`)() as Record<string, Fn>)[0] as Fn;
const functionOf = (source: string): Fn => new Function(`return (${source})`)() as Fn;
const names = (fn: Fn): (string | undefined)[] | undefined =>
  sourceParameters(fn)?.map(({ name, rest }) => (rest ? `...${String(name)}` : name));

describe('parameter names in the source', () => {
  it.each<[string, (string | undefined)[]]>([
    ['run() {}', []],
    ['run( ) {}', []],
    ['run(id) {}', ['id']],
    ['run(id, ) {}', ['id']],
    ['async run(id, name) {}', ['id', 'name']],
    ['*run(id) {}', ['id']],
    ['async *run(id, $x, _y) {}', ['id', '$x', '_y']],
    ['async * run (id) {}', ['id']],
    ['"quoted (name"(id) {}', ['id']],
    ['["com" + (1, "puted")](id) {}', ['id']],
    ['async(id) {}', ['id']],
    ['get(id) {}', ['id']],
    ['run({ id, name: other }, [first], last) {}', [undefined, undefined, 'last']],
    ['run({ id = ")" } = {}, last = { a: [1, 2] }) {}', [undefined, 'last']],
    ['run(id = ")", name = "(", other = `,${")"}(`) {}', ['id', 'name', 'other']],
    ["run(id = '\\')', name = /[)/,]\\//g, last) {}", ['id', 'name', 'last']],
    ['run(id = 4 / 2, name = (1, 2), last) {}', ['id', 'name', 'last']],
    ['run(id = (a, b) => a / b, name = function (x, y) { return ")"; }, last) {}', ['id', 'name', 'last']],
    ['run(/* id, */ name /* ) */, // first )\n last) {}', ['name', 'last']],
    ['run(id, ...others) {}', ['id', '...others']],
    ['run(größe, 名前) {}', ['größe', '名前']],
  ])('of %s', (source, expected) => {
    expect(names(methodOf(source))).toEqual(expected);
  });

  it.each<[string, (string | undefined)[]]>([
    ['function (id) {}', ['id']],
    ['async function* named(id, name) {}', ['id', 'name']],
    ['(id, name) => id', ['id', 'name']],
    ['id => id', ['id']],
    ['async id => id', ['id']],
    ['async (id) => id', ['id']],
  ])('of %s', (source, expected) => {
    expect(names(functionOf(source))).toEqual(expected);
  });

  it('cannot be read from bound functions, proxies and native code', () => {
    const fn = (id: string): string => id;
    for (const opaque of [fn.bind(null), new Proxy(fn, {}), Array.prototype.push]) expect(sourceParameters(opaque)).toBeUndefined();
  });

  it('count only from two letters on: a minifier gives one letter to anything', () => {
    expect(['id', 'user', '$id', 'é1'].every(isUsableName)).toBe(true);
    expect([undefined, '', 'a', '$', '_', 'é'].some(isUsableName)).toBe(false);
  });
});
