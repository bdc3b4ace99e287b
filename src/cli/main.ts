// Entry point of the `bigfleet` command, imported by bin/bigfleet.js: runs the command that the arguments name, and
// sets the exit code.

import { exitCodeOf } from './exit-codes.ts';
import { endWhenUnread } from './output-errors.ts';
import { bigfleetProgram, calledBy } from './program.ts';
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
