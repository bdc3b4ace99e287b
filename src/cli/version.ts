// `bigfleet version`: of this program, and of the shard that commands use, if one answers.

import { Command, Option } from 'commander';
import { BigFleetError } from '../model/index.ts';
import { packageVersion } from '../runtime/package-version.ts';
import type { VersionView } from '../shard/index.ts';
import { ShardClient } from './remote/client.ts';
import { addShardFlags, PROCESS_IO, placeOf, type RemoteIo, type ShardFlags } from './remote/flags.ts';

/** A shard that is slower than this counts as not reachable: the command is run to see what is there. */
const ANSWER_MS = 2000;

export function versionCommand(io: RemoteIo = PROCESS_IO): Command {
  const command = new Command('version')
    .description('print the version of this program, and of the shard if one answers')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'));
  return addShardFlags(command)
    .addHelpText(
      'after',
      `
Exit code 0, whether a shard answers or not. 2: invalid arguments.

Examples:
  bigfleet version
  bigfleet version -o json --shard https://shard.example:8780`,
    )
    .action(async (flags: ShardFlags & { readonly output: 'text' | 'json' }) => {
      const client = { version: packageVersion(), node: process.versions.node };
      const server = await serverOf(flags);
      if (flags.output === 'json') return io.out(`${JSON.stringify({ client, server }, null, 2)}\n`);
      const lines = [`client  ${client.version} (Node ${client.node})`];
      lines.push(
        'error' in server
          ? `server  ${server.error}`
          : `server  ${server.version} (Node ${server.node}, shard ${server.shard} at ${server.url})`,
      );
      io.out(`${lines.join('\n')}\n`);
    });
}

type Server =
  | { readonly url: string; readonly shard: string; readonly version: string; readonly node: string }
  | { readonly error: string };

async function serverOf(flags: ShardFlags): Promise<Server> {
  const { shard, credentials } = await placeOf(flags);
  const client = new ShardClient(shard, credentials, ANSWER_MS);
  try {
    return { url: client.url, ...(await client.get<VersionView>('/v1/version')) };
  } catch (error) {
    if (error instanceof BigFleetError) return { error: error.problems[0]?.message ?? error.message };
    throw error;
  }
}
