#!/usr/bin/env node
// Starts the command line. Plain JavaScript on purpose: it has to run, and explain itself, on a Node that is too
// old for everything else. In a checkout it falls back on the Node that `npm install` brought.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = 24;
const version = process.versions.node;

if (Number(version.split('.')[0]) >= OLDEST_NODE) {
  // A checkout runs its TypeScript as it is; the published package has only the built files.
  const source = new URL('../src/cli/main.ts', import.meta.url);
  await import(existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href);
} else {
  const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (existsSync(pinned)) {
    const child = spawn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
      stdio: 'inherit',
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('exit', (code, signal) => process.exit(signal === null ? code : 1));
  } else {
    console.error(
      `BF_NODE_VERSION: bigfleet needs Node ${OLDEST_NODE} or newer, but this is Node ${version}.`,
    );
    process.exit(2);
  }
}
