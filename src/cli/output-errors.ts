// Handles output that cannot be written: the reader of a pipe is gone, or the disk is full. Installed by main.ts for
// every command; shard.ts switches to continuing.

import { BigFleetError } from '../model/index.ts';
import { exitCodeOf } from './exit-codes.ts';
import { reportError, wantsJson } from './report-error.ts';

const STREAMS = [process.stdout, process.stderr];
/** A pipe without a reader, a socket whose peer closed it with data unread, a terminal that is gone. */
const UNREAD: readonly (string | undefined)[] = ['EPIPE', 'ECONNRESET', 'EIO'];

/**
 * For commands that only print: ends the process when its reader is gone (`| head`). That is not a failure, so the exit
 * code is the one set so far.
 */
export function endWhenUnread(): void {
  for (const stream of STREAMS) stream.on('error', end);
}

/** For commands whose work is not their output: they continue, and further output is dropped. */
export function continueUnread(): void {
  for (const stream of STREAMS) stream.off('error', end).on('error', ignore);
}

function end(error: NodeJS.ErrnoException): void {
  if (UNREAD.includes(error.code)) {
    // Not at once: the command may be about to set its exit code.
    setImmediate(() => process.exit());
    return;
  }
  continueUnread();
  // A truncated answer must not pass for a complete one. If standard error fails too, only the exit code reports it.
  const failure = new BigFleetError('BF_OUTPUT_FAILED', `${error.message}.`, { cause: error });
  reportError(failure, wantsJson(process.argv.slice(2)));
  process.exit(exitCodeOf(failure));
}

function ignore(): void {}
