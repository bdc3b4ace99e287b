// `npm run build`, also before packing: emits dist/, the code of the published package, from src/. A checkout runs
// without it.

import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
for (const config of ['tsconfig.build.json', 'src/web/page/tsconfig.build.json']) {
  execFileSync('tsc', ['-p', config], { stdio: 'inherit' });
}
// Static assets of the web page.
for (const file of [
  'page/index.html',
  'page/page.css',
  'page/icon.svg',
  'login/index.html',
  'login/login.css',
]) {
  cpSync(`src/web/${file}`, `dist/web/${file}`);
}
