// `bigfleet up`: its flags and its help. What it runs (up.ts) is loaded when it runs: help needs neither a shard nor
// clouds.

import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { BigFleetError } from '../../model/index.ts';
import { settingOf } from '../../shard/config/index.ts';
import { wholeNumber } from '../flags.ts';
import { invocation } from '../invocation.ts';
import { FIRST_PORT, MAX_PORT, PORTS, STANDARD, STANDARD_DIR, type UpFlags } from './flags.ts';

export function upCommand(): Command {
  return new Command('up')
    .description('start a shard, two fake clouds and some clusters, and watch them work')
    .option('--clusters <n>', `simulated clusters (default: ${STANDARD.clusters})`, wholeNumber)
    .option(
      '--machines <n>',
      `about how many machines both clouds have together (default: ${STANDARD.machines})`,
      wholeNumber,
    )
    .option('--seed <n>', `the same seed gives the same fleet (default: ${STANDARD.seed})`, wholeNumber)
    .option('--speed <n>', 'how many times faster than real clouds', positive, 10)
    .option('--port <n>', 'of the web page; the next free one if it is taken', portNumber, FIRST_PORT)
    .option('--dir <path>', 'where clouds and shard keep their state', STANDARD_DIR)
    .option('--fresh', 'start over instead of continuing where the last start ended', false)
    .option(
      '--owned-price <name=price>',
      'price shown for owned machines, by instance type, bare-metal or reserved; may be repeated (default: made-up prices)',
      ownedPrice,
    )
    .option('--plain', 'lines instead of the live view, also on a terminal', false)
    .addOption(
      new Option('-o, --output <format>', 'text, or events as JSON lines')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addHelpText('after', () => help(invocation()))
    .action(async (flags: UpFlags) => {
      const { up } = await import('./up.ts');
      await up(flags);
    });
}

/** `call` starts this command line where the reader is. */
const help = (call: string): string => `
Everything runs in this process and on loopback: a shard as "bigfleet shard" starts it, two
simulated clouds (bare metal and reserved; on-demand and spot) and clusters whose demand changes
over time. Quit with q or Ctrl-C.

A second start continues where the first one ended. --fresh removes what "bigfleet up" wrote into
DIR, and nothing else, and starts over. DIR is a directory of its own: one with other files is
refused.

Keys: b deploy burst, g GPU gang, s spot wave, z zone outage, f freeze or unfreeze, q quit.
Where the output is not a terminal, with TERM=dumb, NO_COLOR or --plain, it prints lines and reads
no keys; the page has buttons.

While it runs, other terminals can query and control the shard at the address in the first lines:
  ${call} get machines --shard http://127.0.0.1:${FIRST_PORT}
  ${call} get shortfalls --shard http://127.0.0.1:${FIRST_PORT}

The data of the shard is in DIR/shard, for "bigfleet history" and "bigfleet replay", at any time:
  ${call} history cluster ml --data-dir ${join(STANDARD_DIR, 'shard')}
  ${call} replay --data-dir ${join(STANDARD_DIR, 'shard')} --from 1m

Examples:
  bigfleet up
  bigfleet up --clusters 20 --machines 2000 --seed 7 --fresh
  bigfleet up --speed 1            as slow as real clouds
  bigfleet up -o json | jq .       what happens, for programs`;

function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port < 1 || port > MAX_PORT - PORTS)
    throw new InvalidArgumentError(`It must be from 1 to ${MAX_PORT - PORTS}.`);
  return port;
}

/** Parses a value of the setting `ownedPrices`, and adds it to the earlier ones. */
function ownedPrice(text: string, before?: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const { kind } = settingOf('ownedPrices');
  const { success, data } = kind.type.safeParse(text);
  if (!success) throw new InvalidArgumentError(`Expected ${kind.what}.`);
  return new Map([...(before ?? []), ...(data as ReadonlyMap<string, number>)]);
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new BigFleetError('BF_USAGE', '--speed must be above 0.');
  return value;
}
