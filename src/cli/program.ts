// All commands of `bigfleet` as one tree, with what holds for each of them: how wide help is, and how errors are shown.

import { readFileSync } from 'node:fs';
import { Command, type OutputConfiguration } from 'commander';
import { printable } from '../model/index.ts';
import { COMMANDS, type CommandEntry } from './commands.ts';
import { indented, LINE_WIDTH } from './table.ts';

const HELP = `
Examples:
  bigfleet up                                              a whole fleet on this machine, to watch
  bigfleet decide examples/scenarios/first-look.yaml       one decision, nothing is touched
  bigfleet get shortfalls --shard http://127.0.0.1:7777    ask a running shard
  bigfleet explain BF_USAGE                                what an error means

"bigfleet COMMAND --help" says more about each. Exit codes are the same everywhere: 0 done; 1 it
failed, or the answer is no; 2 what it was given cannot be used (docs/errors.md).`;

/** All commands by name; those that `isCalled` picks are loaded, of the others only name and summary are known. */
export async function bigfleetProgram(isCalled: (name: string) => boolean): Promise<Command> {
  const program = new Command('bigfleet')
    .description('One autoscaler for a whole fleet of Kubernetes clusters.')
    .version(versionOfPackage(), '-V, --version', 'print the version')
    .addHelpText('after', HELP);
  for (const entry of COMMANDS)
    program.addCommand(isCalled(entry.name) ? await entry.load() : summaryOf(entry));
  // Sub-commands inherit none of this by themselves.
  for (const command of withSubCommands(program)) {
    command
      .exitOverride()
      .helpOption('-h, --help', 'show this help')
      .configureHelp({ minWidthToWrap: NARROWEST_TEXT })
      .configureOutput(OUTPUT)
      .showHelpAfterError(command === program ? 'Run with --help for the arguments and examples.' : true);
  }
  // Arguments of a command are known only once it is loaded.
  return program.configureHelp({
    minWidthToWrap: NARROWEST_TEXT,
    subcommandTerm: (command) => command.name(),
  });
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
