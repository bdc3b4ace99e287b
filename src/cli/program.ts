// All commands of `bigfleet` as one tree, with what holds for each of them: how wide help is, and how errors are shown.

import { readFileSync } from 'node:fs';
import { Command, type OutputConfiguration } from 'commander';
import { explain } from '../engine/index.ts';
import { fleetOf } from '../fleet/index.ts';
import { printable } from '../model/index.ts';
import { startShard } from '../shard/index.ts';
import { certsCommand } from './certs.ts';
import { type Decider, decideCommand } from './decide.ts';
import { explainCommand } from './explain.ts';
import { historyCommand } from './journal/history.ts';
import { replayCommand } from './journal/replay.ts';
import { decideWith } from './phase1.ts';
import { providerCommand } from './provider.ts';
import { acceptCommand, refuseCommand } from './remote/accept.ts';
import { freezeCommand, unfreezeCommand } from './remote/freeze.ts';
import { getCommand } from './remote/get.ts';
import { forgetCommand, quarantineCommand, retryCommand } from './remote/machine-orders.ts';
import { shardCommand } from './shard.ts';
import { indented, LINE_WIDTH } from './table.ts';
import { upCommand } from './up/up.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const decider: Decider = {
  decide: decideWith,
  explain: (input, key) => explain(fleetOf(input), input.nowMs, input.options, key),
};

const HELP = `
Examples:
  bigfleet up                                              a whole fleet on this machine, to watch
  bigfleet decide examples/scenarios/first-look.yaml       one decision, nothing is touched
  bigfleet get shortfalls --shard http://127.0.0.1:7777    ask a running shard
  bigfleet explain BF_USAGE                                what an error means

"bigfleet COMMAND --help" says more about each. Exit codes are the same everywhere: 0 done; 1 it
failed, or the answer is no; 2 what it was given cannot be used (docs/errors.md).`;

export function bigfleetProgram(): Command {
  const program = new Command('bigfleet')
    .description('One autoscaler for a whole fleet of Kubernetes clusters.')
    .version(version, '-V, --version', 'print the version')
    .addHelpText('after', HELP)
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
  // Sub-commands inherit none of this by themselves.
  for (const command of withSubCommands(program)) {
    command
      .exitOverride()
      .helpOption('-h, --help', 'show this help')
      .configureHelp({ minWidthToWrap: NARROWEST_TEXT })
      .configureOutput(OUTPUT)
      .showHelpAfterError(command === program ? 'Run with --help for the arguments and examples.' : true);
  }
  return program;
}

export function withSubCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubCommands)];
}

/** What is told of a flag goes on in the next line even where long flags leave it this little room. */
const NARROWEST_TEXT = 30;

const OUTPUT: OutputConfiguration = {
  writeErr: printError,
  getOutHelpWidth: () => helpWidth(process.stdout),
  getErrHelpWidth: () => helpWidth(process.stderr),
};

function helpWidth({ columns = LINE_WIDTH }: { readonly columns?: number }): number {
  return Math.min(columns, LINE_WIDTH);
}

/** Lines for a person, with nothing in them that a terminal would obey. Files and pipes get them whole. */
export function printError(text: string): void {
  const lines = text.trimEnd().split('\n').map(printable);
  const shown = process.stderr.isTTY ? lines.flatMap(fitted) : lines;
  process.stderr.write(`${shown.join('\n')}\n`);
}

/** What is too long goes on below itself. */
function fitted(line: string): readonly string[] {
  if (line.length <= LINE_WIDTH) return [line];
  const text = line.trimStart();
  return indented(text, line.length - text.length);
}
