// All commands of `bigfleet` as one tree, with what holds for each of them: how wide help is, and how errors are shown.

import { readFileSync } from 'node:fs';
import { Command, CommanderError, type HelpContext, type OutputConfiguration } from 'commander';
import { COMMANDS, type CommandEntry } from './commands.ts';
import { invocation } from './invocation.ts';
import { UsageError } from './report-error.ts';
import { columnsOf, LINE_WIDTH, type Sheet } from './table.ts';

const HELP = `
Examples:
  bigfleet up                                              a whole fleet on this machine, to watch
  bigfleet decide examples/scenarios/first-look.yaml       one decision, nothing is touched
  bigfleet get shortfalls --shard http://127.0.0.1:7777    ask a running shard
  bigfleet explain BF_USAGE                                what an error means

"bigfleet COMMAND --help" says more about each. Exit codes are the same everywhere: 0 done; 1 it
failed, or the answer is no; 2 what it was given cannot be used (docs/reference/errors.md).`;

/** All commands by name; those that `isCalled` picks are loaded, of the others only name and summary are known. */
export async function bigfleetProgram(isCalled: (name: string) => boolean): Promise<Command> {
  const program = new Command('bigfleet')
    .description('One autoscaler for a whole fleet of Kubernetes clusters.')
    .version(versionOfPackage(), '-V, --version', 'print the version')
    .addHelpText('after', HELP)
    .addHelpText('afterAll', callHint);
  for (const entry of COMMANDS)
    program.addCommand(isCalled(entry.name) ? await entry.load() : summaryOf(entry));
  // Sub-commands inherit none of this by themselves.
  for (const command of withSubCommands(program)) {
    command
      .exitOverride((error) => {
        throw error.exitCode === 0 ? error : new UsageError(error, pathOf(command));
      })
      .helpOption('-h, --help', 'show this help')
      .configureHelp({ minWidthToWrap: NARROWEST_TEXT })
      .configureOutput(OUTPUT);
    if (command.commands.length > 0) refuseAlone(command);
  }
  // Arguments of a command are known only once it is loaded.
  return program.configureHelp({
    minWidthToWrap: NARROWEST_TEXT,
    subcommandTerm: (command) => command.name(),
  });
}

/** Examples say `bigfleet`; where that is not on the path, help says what is typed instead. */
function callHint(): string {
  const call = invocation();
  return call === 'bigfleet' ? '' : `\nHere "bigfleet" is called as: ${call}`;
}

/** The commands that these words may run: the first word, or the one after `help`. */
export function calledBy(words: readonly string[]): (name: string) => boolean {
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  return (name) => name === (first === 'help' ? second : first);
}

function summaryOf({ name, summary }: CommandEntry): Command {
  return new Command(name).description(summary);
}

function versionOfPackage(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Words from the top to this command, such as `get machines`. */
function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
}

/** A command that only has sub-commands, called without one: those are named, instead of the whole help. */
function refuseAlone(command: Command): void {
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

/** What is told of a flag goes on in the next line even where long flags leave it this little room. */
const NARROWEST_TEXT = 30;

const OUTPUT: OutputConfiguration = {
  // Errors are thrown, and said in one place.
  outputError: () => {},
  getOutHelpWidth: () => helpWidth(process.stdout),
  getErrHelpWidth: () => helpWidth(process.stderr),
};

/** Help in a file or a pipe is laid out as for a terminal of that many columns. */
function helpWidth(sheet: Sheet): number {
  return Math.min(columnsOf(sheet), LINE_WIDTH);
}
