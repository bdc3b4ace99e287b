// All commands of `bigfleet` as one tree, which main.ts runs, with the settings that all of them share: the width of
// help and how errors are shown.

import { Command, CommanderError, type HelpContext, type OutputConfiguration } from 'commander';
import { packageVersion } from '../runtime/package-version.ts';
import { COMMANDS, type CommandEntry } from './commands.ts';
import { invocation } from './invocation.ts';
import { UsageError } from './report-error.ts';
import { columnsOf, LINE_WIDTH, type OutputTarget } from './table.ts';

const HELP = `
Examples:
  bigfleet up                                              a whole fleet on this machine, to watch
  bigfleet decide examples/scenarios/first-look.yaml       one decision, nothing is touched
  bigfleet get shortfalls --shard http://127.0.0.1:7777    query a running shard
  bigfleet explain BF_USAGE                                what an error means

"bigfleet COMMAND --help" says more about each. Exit codes are the same everywhere: 0 done; 1 it
failed, or the answer is no; 2 its input cannot be used (docs/reference/errors.md).`;

/** Loads the commands that `isCalled` selects; the others have a name and a summary only. */
export async function bigfleetProgram(isCalled: (name: string) => boolean): Promise<Command> {
  const program = new Command('bigfleet')
    .description('One autoscaler for a whole fleet of Kubernetes clusters.')
    // Options after a command are its own, also if the command above it has an option of the same name.
    .enablePositionalOptions()
    .version(packageVersion(), '-V, --version', 'print the version')
    .addHelpText('after', HELP)
    .addHelpText('afterAll', callHint);
  for (const entry of COMMANDS)
    program.addCommand(
      isCalled(entry.name) ? await entry.load(() => bigfleetProgram(() => true)) : summaryOf(entry),
    );
  // Commander does not apply these settings to sub-commands.
  for (const command of withSubCommands(program)) {
    command
      .exitOverride((error) => {
        throw error.exitCode === 0 ? error : new UsageError(error, pathOf(command));
      })
      .helpOption('-h, --help', 'show this help')
      .configureHelp({ minWidthToWrap: NARROWEST_TEXT })
      .configureOutput(OUTPUT);
    if (command.commands.length > 0) requireSubCommand(command);
  }
  // Arguments of a command are known only once it is loaded.
  return program.configureHelp({
    minWidthToWrap: NARROWEST_TEXT,
    subcommandTerm: (command) => command.name(),
  });
}

/** Examples say `bigfleet`; where that is not on the path, help adds the command to type instead. */
function callHint(): string {
  const call = invocation();
  return call === 'bigfleet' ? '' : `\nHere "bigfleet" is called as: ${call}`;
}

/** The command that these arguments may run: the first argument, or the one after `help`. */
export function calledBy(words: readonly string[]): (name: string) => boolean {
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  return (name) => name === (first === 'help' ? second : first);
}

function summaryOf({ name, summary }: CommandEntry): Command {
  return new Command(name).description(summary);
}

/** Names from the top level to this command, such as `get machines`. */
function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
}

/** Makes a command that was called without its sub-command list their names, instead of its whole help. */
function requireSubCommand(command: Command): void {
  const show = command.help.bind(command);
  command.help = ((context?: HelpContext): never => {
    if (context?.error !== true) return show();
    const names = command.commands.map((each) => each.name()).join(', ');
    const error = new CommanderError(1, 'bigfleet.missingCommand', `a command is missing: ${names}.`);
    throw new UsageError(error, pathOf(command));
  }) as Command['help'];
}

export function withSubCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubCommands)];
}

/** Descriptions of flags are wrapped if long flags leave them at least this many columns. */
const NARROWEST_TEXT = 30;

const OUTPUT: OutputConfiguration = {
  // Errors are thrown, and printed in one place.
  outputError: () => {},
  getOutHelpWidth: () => helpWidth(process.stdout),
  getErrHelpWidth: () => helpWidth(process.stderr),
};

/** Help in a file or a pipe is laid out for `LINE_WIDTH` columns. */
function helpWidth(target: OutputTarget): number {
  return Math.min(columnsOf(target), LINE_WIDTH);
}
