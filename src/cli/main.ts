// The `bigfleet` command: hands each sub-command to its file. Exit codes: 0 done, 1 failed, 2 bad usage or input.

import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { explain } from '../engine/index.ts';
import { fleetOf } from '../fleet/index.ts';
import { BigFleetError, type ErrorCode, printable } from '../model/index.ts';
import { startShard } from '../shard/index.ts';
import { certsCommand } from './certs.ts';
import { type Decider, decideCommand } from './decide.ts';
import { explainCommand } from './explain.ts';
import { historyCommand } from './journal/history.ts';
import { replayCommand } from './journal/replay.ts';
import { decideWith } from './phase1.ts';
import { providerCommand } from './provider.ts';
import { endWhenUnread } from './readers.ts';
import { acceptCommand, refuseCommand } from './remote/accept.ts';
import { freezeCommand, unfreezeCommand } from './remote/freeze.ts';
import { getCommand } from './remote/get.ts';
import { forgetCommand, quarantineCommand, retryCommand } from './remote/machine-orders.ts';
import { shardCommand } from './shard.ts';
import { upCommand } from './up/up.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

endWhenUnread();

/** Errors that are nobody's wrong words. */
const FAILURES: readonly ErrorCode[] = [
  'BF_SHARD_UNREACHABLE',
  'BF_SHARD_REFUSED',
  'BF_SHARD_ENDED',
  'BF_DATA_DIR',
];

/** Lines for a person, with nothing in them that a terminal would obey. */
function printError(text: string): void {
  process.stderr.write(`${text.trimEnd().split('\n').map(printable).join('\n')}\n`);
}

const decider: Decider = {
  decide: decideWith,
  explain: (input, key) => explain(fleetOf(input), input.nowMs, input.options, key),
};

const program = new Command('bigfleet')
  .description('One autoscaler for a whole fleet of Kubernetes clusters.')
  .version(version, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'show this help')
  .showHelpAfterError('Run with --help for the arguments and examples.')
  .exitOverride()
  .addCommand(upCommand())
  .addCommand(shardCommand(startShard))
  .addCommand(decideCommand(decider))
  .addCommand(getCommand())
  .addCommand(explainCommand())
  .addCommand(freezeCommand())
  .addCommand(unfreezeCommand())
  .addCommand(retryCommand())
  .addCommand(quarantineCommand())
  .addCommand(forgetCommand())
  .addCommand(acceptCommand())
  .addCommand(refuseCommand())
  .addCommand(historyCommand())
  .addCommand(replayCommand())
  .addCommand(providerCommand())
  .addCommand(certsCommand());

// Sub-commands inherit neither setting by themselves.
program.configureOutput({ writeErr: printError });
for (const command of program.commands.flatMap((each) => [each, ...each.commands])) {
  command.exitOverride().showHelpAfterError(true).configureOutput({ writeErr: printError });
}

try {
  if (process.argv.length <= 2) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof BigFleetError) {
    printError(error.message);
    return FAILURES.includes(error.code) ? 1 : 2;
  }
  console.error(error);
  return 1;
}
