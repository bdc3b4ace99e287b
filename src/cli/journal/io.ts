// Output of the commands that read a journal (history.ts, replay.ts); tests pass their own.

import { type Paint, paintFor } from '../table.ts';

export interface JournalIo {
  readonly out: (text: string) => void;
  readonly paint: Paint;
  readonly exitCode: (code: number) => void;
}

export const PROCESS_IO: JournalIo = {
  out: (text) => process.stdout.write(text),
  paint: paintFor(process.stdout),
  exitCode: (code) => {
    process.exitCode = code;
  },
};
