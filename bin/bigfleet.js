// The command line, for the Node that bin/bigfleet becomes. Plain JavaScript on purpose: it has to run, and explain
// itself, on a Node that is too old for everything else.

import { existsSync } from 'node:fs';

const OLDEST_NODE = 24;
const version = process.versions.node;

if (Number(version.split('.')[0]) >= OLDEST_NODE) {
  // A checkout runs its TypeScript as it is; the published package has only the built files.
  const source = new URL('../src/cli/main.ts', import.meta.url);
  await import(existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href);
} else {
  console.error(`BF_NODE_VERSION: bigfleet needs Node ${OLDEST_NODE} or newer, but this is Node ${version}.`);
  process.exit(2);
}
