// What becomes of a command whose output goes nowhere: the other end of a pipe is closed, its process dead, or the disk
// below it full.

import { BigFleetError } from '../model/index.ts';
import { exitCodeOf } from './exit-codes.ts';
import { reportError, wantsJson } from './report-error.ts';

const STREAMS = [process.stdout, process.stderr];
/** A pipe without a reader, a socket whose other end went away with lines unread, a terminal that is gone. */
const UNREAD: readonly (string | undefined)[] = ['EPIPE', 'ECONNRESET', 'EIO'];

/**
 * A reader that has seen enough (`| head`) is not a failure, and the end of a command that does nothing but print. What the
 * command has found out by then, its exit code says.
 */
export function endWhenUnread(): void {
  for (const stream of STREAMS) stream.on('error', end);
}

/** For a command whose work is not its output: it goes on, and what it prints is lost. */
export function goOnUnread(): void {
  for (const stream of STREAMS) stream.off('error', end).on('error', goOn);
}

function end(error: NodeJS.ErrnoException): void {
  if (UNREAD.includes(error.code)) {
    // Not at once: the command may be about to set its exit code.
    setImmediate(() => process.exit());
    return;
  }
  goOnUnread();
  // Half of an answer must not pass for the whole. If it is standard error that is full, the exit code is all there is.
  const failure = new BigFleetError('BF_OUTPUT_FAILED', `${error.message}.`, { cause: error });
  reportError(failure, wantsJson(process.argv.slice(2)));
  process.exit(exitCodeOf(failure));
}

function goOn(): void {}
