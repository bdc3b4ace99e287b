// Environment of `bench startup` (main.ts): the package as npm installs it, and a shard to query.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';

export interface Installed {
  readonly bin: string;
  /** The Node that runs it. */
  readonly node: string;
  remove(): void;
}

/** Packs the package and installs the tarball into an empty folder, with this Node first on the path. */
export function installedPackage(): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-startup-'));
  const tarball = npm(['pack', '--silent', '--pack-destination', folder], resolve('.')).split('\n').at(-1)!;
  writeFileSync(join(folder, 'package.json'), '{"name":"stranger","private":true}');
  npm(['install', '--prefer-offline', join(folder, tarball)], folder);
  process.env['PATH'] = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
  return {
    bin: join(folder, 'node_modules/.bin/bigfleet'),
    node: process.execPath,
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function npm(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', cwd });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout.trim();
}

export interface Shard {
  readonly url: string;
  stop(): Promise<void>;
}

/** A shard in a process of its own. Its provider is unreachable, so it only answers queries. */
export async function runningShard(): Promise<Shard> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bigfleet-startup-shard-'));
  const args = ['--provider', 'none=127.0.0.1:1', '--listen', '127.0.0.1:0', '--api', '127.0.0.1:0'];
  const child = spawn(resolve('bin/bigfleet'), ['shard', ...args, '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(child.stdout, 'data'), ended.then(() => [''])]);
  const url = /https?:\/\/\S+/.exec(String(line))?.[0];
  if (url === undefined) throw new Error('the shard did not start');
  return {
    url,
    stop: async () => {
      child.kill();
      await ended;
      rmSync(dataDir, { recursive: true });
    },
  };
}
