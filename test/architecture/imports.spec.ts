import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { findCycle, importsOfLib, packageOf, resolveImport, root, type Module } from './imports.js';
import { composers, leaves, rooms, type Room } from './rooms.js';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'peerDependencies',
  Record<string, string>
>;
const imports = importsOfLib();
const modules = [...imports.keys()];

/** The narrowest room of the table that the file lies in: `stores/redis`, not `stores`. */
function roomOf(module: Module): string {
  const folders = module.split('/').slice(0, -1);
  for (let depth = folders.length; depth > 0; depth--) {
    const name = folders.slice(0, depth).join('/');
    if (name in rooms) return name;
  }
  return folders[0] ?? '.';
}

const targetsOf = (module: Module): Module[] =>
  imports
    .get(module)!
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolveImport(module, specifier));

function violations(module: Module): string[] {
  const name = roomOf(module);
  const room: Room | undefined = rooms[name];
  const packages = room ? (room.foreign ?? []) : composers[name];
  if (!packages) return [`${module}: the room "${name}" is not in test/architecture/rooms.ts`];
  const allowed = (specifier: string): boolean => {
    if (!specifier.startsWith('.')) return isBuiltin(specifier) || packages.includes(packageOf(specifier));
    const target = resolveImport(module, specifier);
    // An entry point shows what its room and the rooms inside it have.
    if (module === `${name}/index` && roomOf(target).startsWith(`${name}/`)) return true;
    if (room === undefined || roomOf(target) === name || (room.files ?? []).includes(target)) return true;
    return [...(leaves.includes(name) ? [] : leaves), ...(room.rooms ?? [])].includes(roomOf(target));
  };
  return imports
    .get(module)!
    .filter((specifier) => !allowed(specifier))
    .map((specifier) => `${module} imports ${specifier}`);
}

describe('who imports whom in lib/', () => {
  it('every import is one that the table of rooms allows', () => {
    expect(modules.flatMap(violations)).toEqual([]);
  });

  it('every relative import ends in .js and names a file', () => {
    const wrong = modules.flatMap((module) =>
      imports
        .get(module)!
        .filter((specifier) => specifier.startsWith('.') && !(specifier.endsWith('.js') && imports.has(resolveImport(module, specifier))))
        .map((specifier) => `${module} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it('no rooms import each other in a circle', () => {
    // The files of lib/ itself stand for themselves (the tokens are a leaf, the module is the top), and so do entry points.
    const nodeOf = (module: Module): string => (module.includes('/') && !module.endsWith('/index') ? roomOf(module) : module);
    const graph = new Map<string, string[]>();
    for (const module of modules) {
      const targets = targetsOf(module).map(nodeOf);
      graph.set(nodeOf(module), [...(graph.get(nodeOf(module)) ?? []), ...targets.filter((target) => target !== nodeOf(module))]);
    }
    expect(findCycle(graph)).toBeUndefined();
  });

  it('no files import each other in a circle', () => {
    const graph = new Map(modules.map((module) => [module, targetsOf(module)]));
    expect(findCycle(graph)).toBeUndefined();
  });

  it('every package that lib/ imports is one that it brings or asks for', () => {
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    const packages = new Set(
      [...imports.values()]
        .flat()
        .filter((s) => !s.startsWith('.') && !isBuiltin(s))
        .map(packageOf),
    );
    expect([...packages].filter((name) => !declared.includes(name))).toEqual([]);
  });

  it('a barrel is an entry point of the package and nothing that lib/ itself goes through', () => {
    const through = modules.filter((module) => targetsOf(module).some((target) => /(^|\/)index$/.test(target)));
    expect(through).toEqual([]);
  });
});

describe('the check itself', () => {
  it('finds a circle, and none where there is none', () => {
    const graph = (edges: Record<string, string[]>) => new Map(Object.entries(edges));
    expect(findCycle(graph({ a: ['b'], b: ['c'], c: ['b'] }))).toEqual(['b', 'c', 'b']);
    expect(findCycle(graph({ a: ['b', 'c'], b: ['c'], c: [] }))).toBeUndefined();
  });

  it('reads lib/', () => {
    expect(imports.get('time/clock')).toEqual([]);
    expect(imports.get('time/duration')).toEqual(['../errors/lease-options.error.js']);
  });
});
