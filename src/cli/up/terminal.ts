// The live view of `bigfleet up` on a terminal (choose-view.ts): draws on the terminal's alternate screen, at most
// four times a second, and handles keys. full-screen.ts restores the terminal however the process ends.

import type { Key } from 'node:readline';
import type { Order, ShardPort } from '../../shard/index.ts';
import {
  DEMO_SCENARIOS,
  type DemoScenarioName,
  FLEET_FREEZE,
  isFrozen,
  NOTHING_YET,
} from '../../web/index.ts';
import { FullScreen, type FullScreenStreams } from '../full-screen.ts';
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

export interface TerminalParts extends FullScreenStreams {
  /** Starts a demo scenario; resolves with a sentence for people. */
  readonly runScenario: (name: DemoScenarioName) => Promise<string>;
  /** `q`, Ctrl-C and Ctrl-D. */
  readonly quit: () => void;
  readonly paint?: Paint;
}

const NOTICE_MS = 8_000;
const MAX_STEPS = 50;

export class TerminalView implements UpView {
  readonly #parts: TerminalParts;
  readonly #paint: Paint;
  #follower: Follower | undefined;
  #port: ShardPort | undefined;
  #place: ShardPlace = { url: '', call: '' };
  #steps: readonly string[] = [];
  #notice = '';
  #noticeTimer: NodeJS.Timeout | undefined;
  readonly #screen: FullScreen;

  constructor(parts: TerminalParts) {
    this.#parts = parts;
    this.#paint = parts.paint ?? paintFor(parts.output);
    const { input, output } = parts;
    this.#screen = new FullScreen({
      ...{ input, output },
      render: (size) => this.#lines(size),
      onKey: (text, key) => this.#onKey(text, key),
    });
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
    clearTimeout(this.#noticeTimer);
    this.#screen.close();
  }

  readonly #changed = (): void => this.#screen.changed();

  #lines(size: { readonly width: number; readonly height: number }): readonly string[] {
    return renderScreen(
      {
        live: this.#follower?.live ?? NOTHING_YET,
        ...this.#place,
        steps: this.#steps,
        notice: this.#notice,
      },
      { ...size, paint: this.#paint },
    );
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
}
