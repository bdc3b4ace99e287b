// The live view where there is no terminal: a line for each step, for each action with its reason, for each warning, and
// now and then how things stand. As JSON it is the news as they come, one a line.

import { printable } from '../../model/index.ts';
import type { News, ShardPort } from '../../shard/index.ts';
import { actionWords, counted, headline, logWords, perHour, timeOfDay } from '../../web/index.ts';
import type { UpView } from './terminal.ts';

export interface PlainParts {
  readonly out: (text: string) => void;
  readonly format: 'text' | 'json';
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
}

const STATUS_MS = 10_000;

type Status = Extract<News, { kind: 'cycle' }>['status'];

export class PlainView implements UpView {
  readonly #parts: PlainParts;
  #leave = () => {};
  #statusMs = Number.NEGATIVE_INFINITY;

  constructor(parts: PlainParts) {
    this.#parts = parts;
  }

  step(text: string): void {
    if (this.#parts.format === 'text') this.#line(this.#parts.nowMs(), text);
    else this.#json({ kind: 'log', level: 'info', event: 'up-step', fields: { text } });
  }

  follow(port: ShardPort, url: string): void {
    this.#leave();
    this.step(`Watch it at ${url} or here. Ctrl-C ends everything.`);
    this.#leave = port.listen((news) => {
      if (this.#parts.format === 'json') this.#json(news);
      else this.#tell(news);
    });
  }

  stop(): void {
    this.#leave();
  }

  #tell(news: News): void {
    switch (news.kind) {
      case 'cycle':
        this.#status(news.status);
        break;
      case 'action-started':
        this.#line(news.action.startedMs, actionWords(news.action).text);
        break;
      case 'action-ended': {
        // That it went well is nothing new.
        const { mood, text } = actionWords(news.action);
        if (mood === 'failed') this.#line(news.action.endedMs ?? news.action.startedMs, text);
        break;
      }
      case 'log':
        if (news.level === 'info') break;
        this.#line(this.#parts.nowMs(), `${news.level}: ${logWords(news.event, news.fields)}`);
        break;
    }
  }

  #status(status: Status): void {
    const now = this.#parts.monotonicMs();
    if (now - this.#statusMs < STATUS_MS) return;
    this.#statusMs = now;
    const figures = [
      counted(status.machines, 'machine'),
      perHour(status.costPerHour),
      counted(status.shortfalls, 'shortfall'),
    ];
    const freezes = status.freezes === 0 ? '' : ` ${counted(status.freezes, 'freeze')} in force.`;
    this.#line(status.nowMs, `${headline(status, [], false)}${freezes} ${figures.join(', ')}.`);
  }

  #line(ms: number, text: string): void {
    this.#parts.out(`${timeOfDay(ms)} ${printable(text)}\n`);
  }

  #json(news: News): void {
    this.#parts.out(`${JSON.stringify(news, jsonValue)}\n`);
  }
}

/** Fields of a log line may have whole numbers beyond those of JSON. */
function jsonValue(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
