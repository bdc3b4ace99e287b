// `bigfleet export`: the live fleet as a scenario file.

import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { BigFleetError, printable } from '../../model/index.ts';
import { addShardFlags, clientOf, EXIT_CODES, type ShardFlags } from './flags.ts';

interface Flags extends ShardFlags {
  readonly output?: string;
}

export function exportCommand(stdout: NodeJS.WritableStream = process.stdout): Command {
  const command = new Command('export')
    .description('write the fleet of a running shard as a scenario file, for decide and whatif')
    .option('-o, --output <file>', 'where to write; by default standard output');
  return addShardFlags(command)
    .addHelpText(
      'after',
      `
Hosts are named by their machine, and errors of Failed machines are left out, since no decision
reads them.
${EXIT_CODES}

Examples:
  bigfleet export -o fleet.json
  bigfleet export | bigfleet decide -
  bigfleet export -o fleet.json && bigfleet whatif --without 'spot*' fleet.json`,
    )
    .action((flags: Flags) => run(flags, stdout));
}

async function run(flags: Flags, stdout: NodeJS.WritableStream): Promise<void> {
  const source = await (await clientOf(flags)).open('/v1/export');
  if (flags.output === undefined) {
    for await (const piece of source)
      if (!stdout.write(piece)) await new Promise((next) => stdout.once('drain', next));
    return;
  }
  // Under its own name only once it is complete.
  const part = `${flags.output}.part`;
  try {
    await pipeline(Readable.from(source), createWriteStream(part));
    await rename(part, flags.output);
  } catch (cause) {
    await rm(part, { force: true });
    if (cause instanceof BigFleetError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BigFleetError('BF_SHARD_UNREACHABLE', `The export broke off: ${printable(why)}.`, { cause });
  }
}
