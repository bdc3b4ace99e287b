// Test support: runs commands against a fake shard that is served on loopback by the real API.

import type { Command } from 'commander';
import type { RemoteIo } from '../../src/cli/remote/flags.ts';
import { noPaint } from '../../src/cli/table.ts';
import { type ApiOptions, serveApi } from '../../src/shard/index.ts';
import { FakeShard } from '../../testing/support/fake-shard.ts';

export interface Served {
  readonly shard: FakeShard;
  readonly url: string;
  /** The output of a command, which gets `--shard` unless told otherwise. */
  readonly run: (
    make: (io: RemoteIo) => Command,
    words: readonly string[],
    io?: Partial<RemoteIo>,
  ) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** `cycles`: past cycles; without them the shard keeps no journal. */
export async function servedShard(cycles: ApiOptions['cycles'] = null): Promise<Served> {
  const shard = new FakeShard();
  const server = await serveApi(shard, '127.0.0.1:0', { tls: null, cycles });
  const run: Served['run'] = (make, words, io = {}) => output(make, [...words, '--shard', server.url], io);
  return { shard, url: server.url, run, close: () => server.close() };
}

/** What a command prints; it throws what the command throws. */
export async function output(
  make: (io: RemoteIo) => Command,
  words: readonly string[],
  io: Partial<RemoteIo> = {},
): Promise<string> {
  let text = '';
  const command = make({ out: (part) => (text += part), paint: noPaint, ...io });
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeErr: () => {} });
  await command.parseAsync([...words], { from: 'user' });
  return text;
}
