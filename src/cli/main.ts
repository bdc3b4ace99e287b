// The `bigfleet` command: hands each sub-command to its file. Exit codes: 0 done, 1 failed, 2 bad usage or input.

import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { decide } from '../engine/index.ts';
import { fleetOf } from '../fleet/index.ts';
import { BigFleetError } from '../model/index.ts';
import { decideCommand } from './decide.ts';
import { explainCommand } from './explain.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('bigfleet')
  .description('One autoscaler for a whole fleet of Kubernetes clusters.')
  .version(version, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'show this help')
  .showHelpAfterError('Run with --help for the arguments and examples.')
  .exitOverride()
  .addCommand(decideCommand((input) => decide(fleetOf(input), input.nowMs, input.options)))
  .addCommand(explainCommand());

// Sub-commands inherit neither setting by themselves.
for (const command of program.commands) command.exitOverride().showHelpAfterError(true);

try {
  if (process.argv.length <= 2) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof BigFleetError) {
    console.error(error.message);
    return 2;
  }
  console.error(error);
  return 1;
}
