// `bigfleet top`: a live screen of a running shard. Without a terminal it prints the same once, as text.

import { Command, Option } from 'commander';
import { BigFleetError } from '../../model/index.ts';
import type { StatusView } from '../../shard/index.ts';
import { FullScreen, type FullScreenStreams } from '../full-screen.ts';
import type { ShardClient } from '../remote/client.ts';
import { type DescribedSubject, described } from '../remote/describe.ts';
import {
  addShardFlags,
  clientOf,
  EXIT_CODES,
  PROCESS_IO,
  type RemoteIo,
  type ShardFlags,
} from '../remote/flags.ts';
import { restMs } from '../remote/pacing.ts';
import type { Paint } from '../table.ts';
import { readList } from './lists.ts';
import {
  EMPTY,
  LISTS,
  type ListName,
  type PressedKey,
  pressed,
  type TopModel,
  withContent,
  wordsOf,
} from './model.ts';
import { pageOf, topScreen, topText } from './screen.ts';

/** Least interval of reads. A shard decides about once a second. */
const INTERVAL_MS = 1000;

export interface TopIo extends RemoteIo {
  /** null: there is no terminal. */
  readonly terminal: (FullScreenStreams & TopTiming) | null;
}

/** Tests pass their own. */
export interface TopTiming {
  readonly intervalMs?: number;
  readonly now?: () => number;
  readonly timer?: (work: () => void, ms: number) => NodeJS.Timeout;
}

const processIo = (): TopIo => {
  const { stdin, stdout } = process;
  const terminal = stdin.isTTY && stdout.isTTY ? { input: stdin, output: stdout } : null;
  return { ...PROCESS_IO, terminal };
};

export function topCommand(io: TopIo = processIo()): Command {
  const command = new Command('top')
    .description('watch a running shard on a live screen: states, cost, demand, actions')
    .addOption(
      new Option('--list <name>', `begin with ${LISTS.join(', ')}`).choices([...LISTS]).default('machines'),
    );
  return addShardFlags(command)
    .addHelpText(
      'after',
      `
Keys: j/k or arrows move, enter opens what is selected, / filters, tab or 1-7 changes the list, esc
goes back, q quits. Without a terminal the screen is printed once, as text.
${EXIT_CODES}

Examples:
  bigfleet top
  bigfleet top --list needs --shard http://127.0.0.1:7777`,
    )
    .action(async (flags: ShardFlags & { readonly list: ListName }) => {
      const client = await clientOf(flags);
      // Fails before the screen opens where no shard answers.
      const first = await readModel(client, { ...EMPTY, url: client.url, list: flags.list });
      if (io.terminal === null) return io.out(topText(first));
      await new Top(client, first, io.terminal, io.paint).ended;
    });
}

async function readModel(client: ShardClient, model: TopModel): Promise<TopModel> {
  const status = await client.get<StatusView>('/v1/status');
  const content = await readList(client, model.list, status.nowMs, wordsOf(model.filter));
  return withContent({ ...model, status }, content);
}

class Top {
  readonly ended: Promise<void>;
  readonly #client: ShardClient;
  readonly #screen: FullScreen;
  readonly #end: () => void;
  readonly #timing: Required<TopTiming>;
  /** Of the last read. */
  #tookMs = 0;
  #model: TopModel;
  #height = 0;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(client: ShardClient, model: TopModel, terminal: NonNullable<TopIo['terminal']>, paint: Paint) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
    this.#client = client;
    this.#model = model;
    const { intervalMs = INTERVAL_MS, now = Date.now, timer = setTimeout } = terminal;
    this.#timing = { intervalMs, now, timer };
    this.#screen = new FullScreen({
      ...{ input: terminal.input, output: terminal.output },
      render: ({ width, height }) => {
        this.#height = height;
        return topScreen(this.#model, { width, height, paint });
      },
      onKey: (text, { name = '', ctrl = false }) => this.#press({ name, ctrl, text: text ?? '' }),
    });
    this.#schedule();
  }

  #press(key: PressedKey): void {
    const { list, isTyping } = this.#model;
    const { model, wants } = pressed(this.#model, key, pageOf(this.#height));
    this.#model = model;
    if (wants === 'quit') {
      this.#stop();
      return;
    }
    this.#screen.draw();
    if (wants !== null) void this.#open(wants);
    else if (model.list !== list || (isTyping && !model.isTyping)) void this.#refresh();
  }

  async #open(subject: DescribedSubject): Promise<void> {
    await this.#attempt(async () => {
      const nowMs = this.#model.status?.nowMs ?? 0;
      const options = { paint: (_style: unknown, text: string) => text, isWide: false, nowMs };
      const { lines } = await described(this.#client, subject, options);
      this.#model = { ...this.#model, detail: { lines, top: 0 }, problem: '' };
    });
  }

  async #refresh(): Promise<void> {
    await this.#attempt(async () => {
      const { list } = this.#model;
      const startedMs = this.#timing.now();
      const read = await readModel(this.#client, this.#model);
      this.#tookMs = this.#timing.now() - startedMs;
      // Keys were pressed meanwhile.
      if (this.#model.list !== list || read.content === null) return;
      this.#model = withContent({ ...this.#model, status: read.status }, read.content);
    });
  }

  /** A shard that does not answer for a while is asked again. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      this.#model = { ...this.#model, problem: error.problems[0]?.message ?? error.message };
    }
    if (!this.#isEnded) this.#screen.draw();
  }

  #schedule(): void {
    if (this.#isEnded) return;
    const { intervalMs, timer } = this.#timing;
    const work = (): void => void this.#refresh().finally(() => this.#schedule());
    this.#timer = timer(work, restMs(intervalMs, this.#tookMs));
  }

  #stop(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#screen.close();
    this.#end();
  }
}
