import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportFields, readPackage } from './entry-points.mjs';
import { root } from './run.mjs';

writeFileSync(join(root, 'package.json'), `${JSON.stringify({ ...readPackage(), ...exportFields() }, null, 2)}\n`);
