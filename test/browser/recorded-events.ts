// The API of a shard beside the page: its events as they arrive, kept for some seconds, and answers to GET. The page is
// compared with these, never with its own requests. Part of stage.ts.

import type { ShardEvent, Status } from '../../src/web/feed.ts';

/** A page shows a status at most some seconds after it arrived. */
const KEPT_MS = 10_000;

export interface ApiCluster {
  readonly cluster: string;
  readonly needs: number;
  readonly unmet: number;
}

export class RecordedEvents {
  readonly #url: string;
  readonly #abort = new AbortController();
  #statuses: { readonly atMs: number; readonly status: Status }[] = [];
  /** All events but those of cycles. */
  readonly events: ShardEvent[] = [];

  constructor(url: string) {
    this.#url = url;
    void this.#follow();
  }

  /** Those of the last seconds, newest first. */
  get statuses(): readonly Status[] {
    const firstMs = Date.now() - KEPT_MS;
    this.#statuses = this.#statuses.filter(({ atMs }) => atMs >= firstMs);
    return this.#statuses.map(({ status }) => status).reverse();
  }

  async get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#url}${path}`);
    if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
    return (await response.json()) as T;
  }

  async clusters(): Promise<readonly ApiCluster[]> {
    return (await this.get<{ items: readonly ApiCluster[] }>('/v1/clusters?limit=100')).items;
  }

  close(): void {
    this.#abort.abort();
  }

  async #follow(): Promise<void> {
    try {
      const response = await fetch(`${this.#url}/v1/events`, { signal: this.#abort.signal });
      const decoder = new TextDecoder();
      let text = '';
      for await (const chunk of response.body!) {
        text += decoder.decode(chunk, { stream: true });
        const messages = text.split('\n\n');
        text = messages.pop()!;
        for (const message of messages) this.#take(message);
      }
    } catch {
      // Closed, or the demo has ended: a check that waits for events reports what it waited for.
    }
  }

  #take(message: string): void {
    const data = message
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice('data:'.length))
      .join('\n');
    if (data === '') return;
    const event = JSON.parse(data) as ShardEvent;
    if (event.kind === 'cycle') this.#statuses.push({ atMs: Date.now(), status: event.status });
    else this.events.push(event);
  }
}
