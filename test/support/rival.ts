import { join } from 'node:path';
import type { Auditor } from './auditor.js';
import type { HolderProcessOptions } from './holder.process.js';
import { TestProcess } from './process.js';

const program = join(import.meta.dirname, 'holder.process.ts');

/** A holder in a process of its own, which writes to the auditor for as long as it may. */
export function startHolderProcess(auditor: Auditor, options: Omit<HolderProcessOptions, 'auditorPort'>): TestProcess {
  return new TestProcess(program, { auditorPort: auditor.port, ...options });
}

/** Another process that waits for the lease, writes a few times and gives it back. */
export function startRival(auditor: Auditor, options: Omit<HolderProcessOptions, 'auditorPort'>): TestProcess {
  return startHolderProcess(auditor, { wait: '30s', writes: 5, ...options });
}
