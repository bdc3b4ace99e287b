// The live view of `bigfleet up` on a terminal (choose-view.ts): draws on the terminal's alternate screen, at most
// four times a second, and handles keys. However the process ends, the terminal is restored.

import { emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Order, ShardPort } from '../../shard/index.ts';
import {
  DEMO_SCENARIOS,
  type DemoScenarioName,
  FLEET_FREEZE,
  isFrozen,
  NOTHING_YET,
} from '../../web/index.ts';
import { type Paint, paintFor } from '../table.ts';
import { Follower } from './follow.ts';
import { renderScreen } from './screen.ts';

/** How a reader reaches the shard from elsewhere. */
export interface ShardPlace {
  /** Of the web page and of the API. */
  readonly url: string;
  /** The command that starts this program, for hints. */
  readonly call: string;
}

/** A view of a shard that is being started, runs, and ends. */
export interface UpView {
  /** Reports a step of the start-up. */
  step(text: string): void;
  /** Shows the shard from now on. */
  follow(port: ShardPort, place: ShardPlace): void;
  /** Ends all output and restores the terminal. */
  stop(): void;
}

export interface TerminalParts {
  readonly input: Pick<ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'> & NodeJS.ReadableStream;
  readonly output: Pick<WriteStream, 'write' | 'columns' | 'rows' | 'on' | 'off' | 'writableNeedDrain'> &
    NodeJS.WritableStream;
  /** Starts a demo scenario; resolves with a sentence for people. */
  readonly runScenario: (name: DemoScenarioName) => Promise<string>;
  /** `q`, Ctrl-C and Ctrl-D. */
  readonly quit: () => void;
  readonly paint?: Paint;
}

const REDRAW_MS = 250;
const NOTICE_MS = 8_000;
const MAX_STEPS = 50;
/** For a terminal that does not report its size. */
const USUAL = { width: 80, height: 24 };

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';

const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

export class TerminalView implements UpView {
  readonly #parts: TerminalParts;
  readonly #paint: Paint;
  #follower: Follower | undefined;
  #port: ShardPort | undefined;
  #place: ShardPlace = { url: '', call: '' };
  #steps: readonly string[] = [];
  #notice = '';
  #noticeTimer: NodeJS.Timeout | undefined;
  #redraw: NodeJS.Timeout | undefined;
  #isOpen = true;

  constructor(parts: TerminalParts) {
    this.#parts = parts;
    this.#paint = parts.paint ?? paintFor(parts.output);
    const { input, output } = parts;
    emitKeypressEvents(input);
    input.setRawMode(true);
    input.on('keypress', this.#onKey);
    input.resume();
    output.on('resize', this.#changed);
    process.on('exit', this.#restore);
    // Runs before the error is printed; text on the alternate screen would be lost.
    process.on('uncaughtExceptionMonitor', this.#restore);
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    output.write(ENTER);
    this.#draw();
  }

  step(text: string): void {
    this.#steps = [...this.#steps, text].slice(-MAX_STEPS);
    this.#changed();
  }

  follow(port: ShardPort, place: ShardPlace): void {
    this.#follower?.stop();
    this.#port = port;
    this.#place = place;
    this.#follower = new Follower(port, this.#changed);
    this.#changed();
  }

  stop(): void {
    this.#follower?.stop();
    this.#restore();
  }

  readonly #changed = (): void => {
    if (!this.#isOpen) return;
    this.#redraw ??= setTimeout(() => {
      this.#redraw = undefined;
      this.#draw();
    }, REDRAW_MS);
  };

  #draw(): void {
    const { output } = this.#parts;
    // Skip a frame while the terminal does not keep up.
    if (output.writableNeedDrain) return;
    const lines = renderScreen(
      {
        live: this.#follower?.live ?? NOTHING_YET,
        ...this.#place,
        steps: this.#steps,
        notice: this.#notice,
      },
      { width: output.columns ?? USUAL.width, height: output.rows ?? USUAL.height, paint: this.#paint },
    );
    // Cleared before it is written: after a line of full width the cursor is still on its last character.
    output.write(`${HOME}${lines.map((line) => `${CLEAR_LINE}${line}`).join('\r\n')}`);
  }

  readonly #onKey = (_text: string | undefined, key: Key): void => {
    const { name = '', ctrl = false } = key;
    if (name === 'q' || (ctrl && (name === 'c' || name === 'd'))) {
      this.#parts.quit();
      return;
    }
    if (ctrl) return;
    const scenario = DEMO_SCENARIOS.find((each) => each.key === name);
    if (scenario !== undefined) void this.#showNotice(this.#parts.runScenario(scenario.name));
    if (name === 'f') void this.#showNotice(this.#toggleFreeze());
  };

  async #toggleFreeze(): Promise<string> {
    if (this.#port === undefined || this.#follower === undefined) return 'There is nothing to freeze yet.';
    const who = 'terminal';
    const order: Order = isFrozen(this.#follower.live)
      ? { kind: 'unfreeze', id: FLEET_FREEZE, who }
      : { kind: 'freeze', scope: { cluster: null, action: null }, who, why: 'key f' };
    const { message } = await this.#port.order(order);
    await this.#follower.refresh();
    return message;
  }

  async #showNotice(answer: Promise<string>): Promise<void> {
    try {
      this.#notice = await answer;
    } catch (error) {
      this.#notice = error instanceof Error ? error.message : String(error);
    }
    clearTimeout(this.#noticeTimer);
    this.#noticeTimer = setTimeout(() => {
      this.#notice = '';
      this.#changed();
    }, NOTICE_MS).unref();
    this.#changed();
  }

  /** Without another listener for the signal, re-raises it so that it ends the process as by default. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.#restore();
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };

  readonly #restore = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#redraw);
    clearTimeout(this.#noticeTimer);
    const { input, output } = this.#parts;
    output.write(LEAVE);
    input.off('keypress', this.#onKey);
    input.setRawMode(false);
    input.pause();
    output.off('resize', this.#changed);
    process.off('exit', this.#restore);
    process.off('uncaughtExceptionMonitor', this.#restore);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  };
}
