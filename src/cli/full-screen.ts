// A live screen on the terminal's alternate screen: draws at most four times a second, and restores the terminal however the
// process ends. Used by `bigfleet up` (up/terminal.ts) and `bigfleet top` (top/).

import { emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';

export interface FullScreenStreams {
  readonly input: Pick<ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'> & NodeJS.ReadableStream;
  readonly output: Pick<WriteStream, 'write' | 'columns' | 'rows' | 'on' | 'off' | 'writableNeedDrain'> &
    NodeJS.WritableStream;
}

export interface FullScreenParts extends FullScreenStreams {
  /** At most `height` lines of at most `width` characters. */
  readonly render: (size: { readonly width: number; readonly height: number }) => readonly string[];
  readonly onKey: (text: string | undefined, key: Key) => void;
}

const REDRAW_MS = 250;
/** For a terminal that does not report its size. */
const USUAL = { width: 80, height: 24 };

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';

const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

export class FullScreen {
  readonly #parts: FullScreenParts;
  #redraw: NodeJS.Timeout | undefined;
  #isOpen = true;

  constructor(parts: FullScreenParts) {
    this.#parts = parts;
    const { input, output } = parts;
    emitKeypressEvents(input);
    input.setRawMode(true);
    input.on('keypress', parts.onKey);
    input.resume();
    output.on('resize', this.changed);
    process.on('exit', this.close);
    // Runs before the error is printed; text on the alternate screen would be lost.
    process.on('uncaughtExceptionMonitor', this.close);
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    output.write(ENTER);
    this.draw();
  }

  /** Draws soon. */
  readonly changed = (): void => {
    if (!this.#isOpen) return;
    this.#redraw ??= setTimeout(() => {
      this.#redraw = undefined;
      this.draw();
    }, REDRAW_MS);
  };

  /** Draws now, as for a key. */
  draw(): void {
    const { output, render } = this.#parts;
    // Skip a frame while the terminal does not keep up.
    if (!this.#isOpen || output.writableNeedDrain) return;
    const lines = render({ width: output.columns ?? USUAL.width, height: output.rows ?? USUAL.height });
    // Cleared before it is written: after a line of full width the cursor is still on its last character.
    output.write(`${HOME}${lines.map((line) => `${CLEAR_LINE}${line}`).join('\r\n')}`);
  }

  /** Restores the terminal. */
  readonly close = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#redraw);
    const { input, output, onKey } = this.#parts;
    output.write(LEAVE);
    input.off('keypress', onKey);
    input.setRawMode(false);
    input.pause();
    output.off('resize', this.changed);
    process.off('exit', this.close);
    process.off('uncaughtExceptionMonitor', this.close);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  };

  /** Without another listener for the signal, re-raises it so that it ends the process as by default. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.close();
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
}
