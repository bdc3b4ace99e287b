// The command line, for the Node that bin/bigfleet becomes. Plain JavaScript on purpose: it has to run, and explain
// itself, on a Node that is too old for everything else.

import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = 24;
const version = process.versions.node;

if (Number(version.split('.')[0]) >= OLDEST_NODE) {
  // A checkout runs its TypeScript as it is; the published package has only the built files.
  const source = new URL('../src/cli/main.ts', import.meta.url);
  if (existsSync(source)) {
    // Stripping types costs more than running most commands, so Node keeps what it compiled. It reads every source at every
    // start and uses an entry only if length and checksum of that text are those it was made from, so an edit is never
    // missed. NODE_COMPILE_CACHE names another folder, NODE_DISABLE_COMPILE_CACHE=1 turns it off.
    const folder = fileURLToPath(new URL('../node_modules/.cache/bigfleet', import.meta.url));
    module.enableCompileCache(folder);
    // Threads of a shard look here, and find compiled what they run. Processes that it starts inherit it: entries are by
    // file and text, so they do not get in each other's way.
    process.env.NODE_COMPILE_CACHE ??= folder;
    await import(source.href);
  } else await import(new URL('../dist/cli/main.js', import.meta.url).href);
} else {
  const isCheckout = existsSync(new URL('../src/cli/main.ts', import.meta.url));
  const advice = isCheckout ? ' "npm install", without --omit=dev, brings one.' : '';
  console.error(
    `BF_NODE_VERSION: bigfleet needs Node ${OLDEST_NODE} or newer, but this is Node ${version}.${advice}`,
  );
  process.exit(2);
}
