// Shows the progress of a long run (`bench ladder`, speedup, shard and hostile, verify:digests) on standard error: one
// line that is overwritten on a terminal, else a plain line every few seconds, so that a log stays short.

const TERMINAL_MS = 100;
const PLAIN_MS = 5000;

export interface Progress {
  update(text: string): void;
  /** Ends the line. */
  done(): void;
}

export function progressOn(stream: NodeJS.WriteStream, label: string): Progress {
  const terminal = stream.isTTY;
  const everyMs = terminal ? TERMINAL_MS : PLAIN_MS;
  let last = Number.NEGATIVE_INFINITY;
  return {
    update(text) {
      if (performance.now() - last < everyMs) return;
      last = performance.now();
      stream.write(terminal ? `\r\u001B[K${label}: ${text}` : `${label}: ${text}\n`);
    },
    done() {
      if (terminal) stream.write('\r\u001B[K');
    },
  };
}

export const SILENT: Progress = { update: () => {}, done: () => {} };
