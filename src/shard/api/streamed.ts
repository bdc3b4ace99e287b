// Answers that are written in pieces and have no bound of their own: CSV with all rows, and the export of the fleet. A piece
// is written when the reader has taken the one before, so memory is bounded by a piece, and all waits for the reader
// together are bounded, so a reader that does not read holds nothing for long. Used by http-app.ts and what-if-routes.ts.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

export interface StreamedParts {
  readonly response: ServerResponse;
  readonly contentType: string;
  /** Longest time that one answer waits for its reader, in milliseconds, all waits together. */
  readonly readerWaitMs: number;
  /** Called with what settles when the answer has ended, so that it counts as a request in progress until then. */
  readonly countUntil: (end: Promise<unknown>) => void;
}

export type Write = (piece: string) => Promise<void>;

/**
 * Resolves when the first piece is written, or the answer has ended: what follows may take longer than an answer may. A
 * failure after that cuts the answer off, so that no reader takes a part for the whole.
 */
export async function streamed(parts: StreamedParts, run: (write: Write) => Promise<void>): Promise<void> {
  const { response, contentType, countUntil } = parts;
  const first = Promise.withResolvers<void>();
  let leftMs = parts.readerWaitMs;
  const write = async (piece: string): Promise<void> => {
    if (response.destroyed || response.writableEnded) throw new Error('The reader has gone.');
    if (!response.headersSent) response.writeHead(200, { 'content-type': contentType });
    const isFull = !response.write(piece);
    first.resolve();
    if (isFull) leftMs = await drained(response, leftMs);
  };
  countUntil(
    run(write).then(
      () => {
        response.end();
        first.resolve();
      },
      (error: unknown) => {
        if (response.headersSent) response.destroy();
        first.reject(error);
      },
    ),
  );
  await first.promise;
}

/** Waits until the reader has taken what was written; returns what is left of `waitMs`, and throws when it is over. */
async function drained(response: ServerResponse, waitMs: number): Promise<number> {
  const beganMs = performance.now();
  const isOver = new AbortController();
  const timer = setTimeout(() => isOver.abort(), waitMs);
  try {
    const { signal } = isOver;
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } catch (cause) {
    throw new Error('The reader does not read.', { cause });
  } finally {
    clearTimeout(timer);
    isOver.abort();
  }
  return waitMs - (performance.now() - beganMs);
}
