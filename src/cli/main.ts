// Runs the `bigfleet` command, and ends with the exit code that fits.

import { CommanderError } from 'commander';
import { BigFleetError } from '../model/index.ts';
import { exitCodeOf } from './exit-codes.ts';
import { bigfleetProgram, calledBy, printError } from './program.ts';
import { endWhenUnread } from './readers.ts';

endWhenUnread();

try {
  const program = await bigfleetProgram(calledBy(process.argv.slice(2)));
  if (process.argv.length <= 2) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  // The parser has said what is wrong by itself.
  if (error instanceof BigFleetError) printError(error.message);
  else if (!(error instanceof CommanderError)) console.error(error);
  process.exitCode = exitCodeOf(error);
}
