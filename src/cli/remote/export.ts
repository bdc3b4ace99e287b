// `bigfleet export`: the live fleet as a scenario file.

import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { BigFleetError, printable } from '../../model/index.ts';
import type { ShardClient } from './client.ts';
import { addShardFlags, clientOf, EXIT_CODES, type ShardFlags } from './flags.ts';

const PATH = '/v1/export';

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
  const client = await clientOf(flags);
  if (flags.output !== undefined) return await writeFile(client, flags.output);
  for await (const piece of await client.open(PATH))
    if (!stdout.write(piece)) await new Promise((next) => stdout.once('drain', next));
}

/** The file has its own name only once it is complete. It is opened first, since an export may take long. */
async function writeFile(client: ShardClient, path: string): Promise<void> {
  const part = `${path}.part`;
  const file = await open(part, 'w').catch((cause: unknown) => {
    throw unwritable(path, cause);
  });
  try {
    await pipeline(Readable.from(await client.open(PATH)), file.createWriteStream());
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true });
    if (cause instanceof BigFleetError) throw cause;
    if (isOfFile(cause)) throw unwritable(path, cause);
    throw new BigFleetError('BF_SHARD_UNREACHABLE', `The export broke off: ${whyOf(cause)}.`, { cause });
  } finally {
    await file.close();
  }
}

const FILE_CALLS: readonly (string | undefined)[] = ['write', 'close', 'rename'];

/** Otherwise the connection failed. */
function isOfFile(error: unknown): boolean {
  return FILE_CALLS.includes((error as NodeJS.ErrnoException).syscall);
}

function unwritable(path: string, cause: unknown): BigFleetError {
  return new BigFleetError('BF_OUTPUT_UNWRITABLE', `${printable(path)}: ${whyOf(cause)}`, { cause });
}

function whyOf(cause: unknown): string {
  return printable(cause instanceof Error ? cause.message : String(cause));
}
