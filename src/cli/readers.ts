// What becomes of a command whose output nobody reads any more: the other end of a pipe is closed, or its process dead.

const STREAMS = [process.stdout, process.stderr];
/** A pipe without a reader, a socket whose other end went away with lines unread, a terminal that is gone. */
const UNREAD: readonly (string | undefined)[] = ['EPIPE', 'ECONNRESET', 'EIO'];

/** A reader that has seen enough (`| head`) is no failure, and the end of a command that does nothing but print. */
export function endWhenUnread(): void {
  for (const stream of STREAMS) stream.on('error', end);
}

/** For a command whose work is not its output: it goes on, and what it prints is lost. */
export function goOnUnread(): void {
  for (const stream of STREAMS) stream.off('error', end).on('error', goOn);
}

function end(error: NodeJS.ErrnoException): void {
  if (!UNREAD.includes(error.code)) throw error;
  process.exit(0);
}

function goOn(error: NodeJS.ErrnoException): void {
  if (!UNREAD.includes(error.code)) throw error;
}
