// The overview of the dashboard as the shard sees it: one event stream, and the requests of src/web/page/store.ts and
// src/web/page/views/overview.ts with their pace. Nothing is rendered.

import { quantilesOf } from '../quantiles.ts';
import type { PageTraffic } from './figures.ts';

/** As PACE_MS, KINDS and the limits of store.ts. */
const EVENTS = '/v1/events?since=0&kinds=cycle,loss,losses,log&pace=1000';
const POLLED = ['/v1/shortfalls?limit=20', '/v1/freezes?limit=100', '/v1/actions?limit=50'];
/** The views ask again after ten times as long as their last answer took, as REST of requests.ts. */
const VIEWED = ['/v1/clusters?order=trouble&limit=20', '/v1/plan?limit=10'];
const REST = 10;

export class Dashboard {
  readonly #api: string;
  readonly #aborting = new AbortController();
  readonly #answersMs: number[] = [];
  readonly #nextMs = new Map<string, number>();
  readonly #busy = new Set<string>();
  #isPolling = false;
  #seriesMs = 0;
  #events = 0;
  #refused = 0;
  #bytes = 0;
  #ended: Promise<void> | null = null;

  constructor(api: string) {
    this.#api = api;
  }

  open(): void {
    this.#ended = this.#follow();
  }

  async close(): Promise<PageTraffic> {
    this.#aborting.abort();
    await this.#ended;
    return {
      events: this.#events,
      requests: this.#answersMs.length,
      refused: this.#refused,
      megabytes: this.#bytes / 1e6,
      answerMs: quantilesOf(this.#answersMs),
    };
  }

  async #follow(): Promise<void> {
    try {
      const { body } = await fetch(`${this.#api}${EVENTS}`, { signal: this.#aborting.signal });
      await this.#read('/v1/status');
      let text = '';
      for await (const part of body!.pipeThrough(new TextDecoderStream())) {
        this.#bytes += part.length;
        text += part;
        const end = text.lastIndexOf('\n\n');
        if (end < 0) continue;
        for (const event of text.slice(0, end).split('\n\n')) this.#receive(event);
        text = text.slice(end + 2);
      }
    } catch (error) {
      if (!this.#aborting.signal.aborted) throw error;
    }
  }

  #receive(event: string): void {
    const [, kind, data] = /^event: (.*)\ndata: (.*)$/m.exec(event) ?? [];
    if (kind === undefined) return;
    this.#events++;
    JSON.parse(data!);
    if (kind !== 'cycle') return;
    void this.#poll();
    for (const path of VIEWED) void this.#view(path);
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      const series = this.#read(`/v1/series?since=${this.#seriesMs}`);
      await Promise.all(POLLED.map((path) => this.#read(path)));
      const { points = [] } = ((await series) ?? {}) as { points?: readonly { readonly atMs: number }[] };
      this.#seriesMs = points.at(-1)?.atMs ?? this.#seriesMs;
    } finally {
      this.#isPolling = false;
    }
  }

  async #view(path: string): Promise<void> {
    if (this.#busy.has(path) || performance.now() < (this.#nextMs.get(path) ?? 0)) return;
    this.#busy.add(path);
    const began = performance.now();
    try {
      await this.#read(path);
    } finally {
      this.#busy.delete(path);
      this.#nextMs.set(path, performance.now() + REST * (performance.now() - began));
    }
  }

  /** null: refused, or the page is closed. */
  async #read(path: string): Promise<unknown> {
    const began = performance.now();
    try {
      const answer = await fetch(`${this.#api}${path}`, { signal: this.#aborting.signal });
      const text = await answer.text();
      this.#answersMs.push(performance.now() - began);
      this.#bytes += text.length;
      if (answer.ok) return JSON.parse(text);
      this.#refused++;
    } catch (error) {
      if (!this.#aborting.signal.aborted) throw error;
    }
    return null;
  }
}
