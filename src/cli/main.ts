// Runs the `bigfleet` command, and ends with the exit code that fits.

import { exitCodeOf } from './exit-codes.ts';
import { bigfleetProgram, calledBy } from './program.ts';
import { endWhenUnread } from './readers.ts';
import { reportError, wantsJson } from './report-error.ts';
import { fitLinesTo } from './table.ts';

const args = process.argv.slice(2);

endWhenUnread();
fitLinesTo(process.stdout);

try {
  const program = await bigfleetProgram(calledBy(args));
  if (args.length === 0) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  // Set before reporting: if the reader of standard error is gone, the write ends the process with this code.
  process.exitCode = exitCodeOf(error);
  reportError(error, wantsJson(args));
}
