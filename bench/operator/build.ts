// Compiles the process that `bench operator` measures as the package is compiled, so that its figures are those of an
// installed operator: a checkout strips types at start, which takes memory for as long as the process runs.

import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAM = 'bench/operator/operator-process';

/** The compiled program, in the folder, which must be empty. */
export function builtProgram(folder: string): string {
  const config = join(folder, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.build.json'),
      compilerOptions: {
        rootDir: ROOT,
        outDir: folder,
        typeRoots: [join(ROOT, 'node_modules/@types')],
        declaration: false,
        // `npm run check -- types` checks them.
        noCheck: true,
      },
      include: [],
      files: [join(ROOT, `${PROGRAM}.ts`)],
    }),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config], { stdio: 'inherit' });
  return join(folder, `${PROGRAM}.js`);
}
