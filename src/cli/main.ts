// Runs the `bigfleet` command, and ends with the exit code that fits.

import { exitCodeOf } from './exit-codes.ts';
import { bigfleetProgram, calledBy } from './program.ts';
import { endWhenUnread } from './readers.ts';
import { reportError, wantsJson } from './report-error.ts';
import { fitLinesTo } from './table.ts';

const words = process.argv.slice(2);

endWhenUnread();
fitLinesTo(process.stdout);

try {
  const program = await bigfleetProgram(calledBy(words));
  if (words.length === 0) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  // First: a reader of the error that is gone ends the process, with this code.
  process.exitCode = exitCodeOf(error);
  reportError(error, wantsJson(words));
}
