// `npm run build`: the publishable package. Emits dist/ from src/; nothing here needs it to run.

import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
for (const config of ['tsconfig.build.json', 'src/web/page/tsconfig.build.json']) {
  execFileSync('tsc', ['-p', config], { stdio: 'inherit' });
}
// Static assets of the web page.
for (const file of ['index.html', 'page.css', 'icon.svg']) {
  cpSync(`src/web/page/${file}`, `dist/web/page/${file}`);
}
