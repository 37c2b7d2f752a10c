/**
 * Who may import whom. A room is a folder of lib/; `lease.constants` and `index` are files of lib/ itself. What stands behind a
 * room is all that its files may import of lib/, besides the leaves; `foreign` is all that they may import of packages (Node's own modules always may be).
 */
export interface Room {
  /** Rooms whose every file may be imported. */
  readonly rooms?: readonly string[];
  /** Single files of further rooms: the port, a type, a token. */
  readonly files?: readonly string[];
  /** Packages. */
  readonly foreign?: readonly string[];
}

const PORT = 'stores/lease-store';
const nest = ['@nestjs/common', '@nestjs/core'];

/** Leaves that every room may use (a leaf: `time` uses `errors`, `errors` uses nothing). */
export const leaves: readonly string[] = ['errors', 'time'];

export const rooms: Readonly<Record<string, Room>> = {
  errors: { foreign: ['@nestjs/common'] },
  time: { rooms: ['errors'] },
  events: {},
  fencing: {},
  'fencing/nest': { rooms: ['fencing'], foreign: [...nest, 'rxjs'] },
  stores: {},
  'stores/memory': { files: [PORT] },
  'stores/redis': { files: [PORT], foreign: ['ioredis'] },
  'stores/quorum': { files: [PORT] },
  lease: { rooms: ['events'], files: [PORT], foreign: ['lru-cache'] },
  service: { rooms: ['events', 'lease'], files: [PORT, 'lease.constants'], foreign: nest },
  execution: { rooms: ['events', 'lease', 'service'], files: ['lease.constants', 'metadata/leased-call'], foreign: [...nest, 'rxjs'] },
  metadata: { files: ['lease.constants', 'lease/lease-options'], foreign: [...nest, 'rxjs', 'reflect-metadata'] },
  decorators: { rooms: ['metadata'], files: ['lease.constants', 'lease/lease-options'], foreign: nest },
  discovery: { rooms: ['metadata'], files: ['lease.constants'], foreign: nest },
  cron: {
    rooms: ['events', 'metadata'],
    files: ['lease.constants', 'lease/lease-options'],
    foreign: [...nest, '@nestjs/schedule', 'cron'],
  },
  microservices: { foreign: [...nest, 'rxjs', '@nestjs/microservices'] },
  websockets: { foreign: [...nest, 'rxjs', '@nestjs/websockets'] },
};

/** These put the rooms together and may import all of lib/. */
export const composers: Readonly<Record<string, readonly string[]>> = {
  index: [],
  'lease.constants': [],
  'lease-module-options': [...nest, 'ioredis'],
  'lease-module-options-check': [],
  'lease-runtime': [],
  'lease-app.module': nest,
  'lease.module-definition': nest,
  'lease.module': nest,
  'lease.providers': nest,
  testing: nest,
};
