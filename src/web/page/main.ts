// The script of the page, loaded by index.html: subscribes to the shard's events, polls for what events do not carry,
// and sends the requests of the buttons. It shows when the shard is unreachable, and reconnects by itself.

import { answerLines, pathsOf } from '../answer-text.ts';
import type {
  AskedMachine,
  AskedNeed,
  Cluster,
  FailedMachine,
  Freeze,
  Plan,
  Point,
  ShardEvent,
  Shortfall,
  Status,
} from '../feed.ts';
import { timeOfDay } from '../figures.ts';
import {
  type Details,
  FLEET_FREEZE,
  MAX_CLUSTERS,
  MAX_FAILED,
  MAX_PLANNED,
  MAX_SHORTFALLS,
  NOTHING_YET,
  withEvent,
} from '../live.ts';
import { withPoints } from '../series.ts';
import { type PageState, pageParts } from '../view.ts';
import { show } from './dom.ts';

/** Actions arrive in bursts; redraws are batched to the pace at which a person reads. */
const REDRAW_MS = 250;
/** A shard sends an event about every second; without one for this long, the page shows a warning. */
const SILENCE_MS = 10_000;
const RETRY_MS = 2_000;
const NOTICE_MS = 8_000;
const WHO = 'web page';

let state: PageState = { live: NOTHING_YET, trouble: '', notice: '', answer: [], scenarios: [] };
let receivedMs = Date.now();
let isPolling = false;
let redraw: number | undefined;
let notice: number | undefined;

function update(change: Partial<PageState>): void {
  state = { ...state, ...change };
  if (redraw !== undefined) return;
  redraw = setTimeout(() => {
    redraw = undefined;
    for (const [id, trees] of Object.entries(pageParts(state))) {
      const place = document.getElementById(id);
      if (place !== null) show(place, trees);
    }
  }, REDRAW_MS);
}

function showNotice(text: string): void {
  clearTimeout(notice);
  notice = setTimeout(() => update({ notice: '' }), NOTICE_MS);
  update({ notice: text });
}

function receive(event: ShardEvent): void {
  receivedMs = Date.now();
  const before = state.live.status;
  if (event.kind === 'cycle') {
    if (before !== null && before.startedMs !== event.status.startedMs)
      showNotice('The shard was restarted; this is the new one.');
    void pollDetails();
  }
  update({ live: withEvent(state.live, event), trouble: '' });
}

/** At most one request in flight: a slow shard is not polled again meanwhile. */
async function pollDetails(): Promise<void> {
  if (isPolling) return;
  isPolling = true;
  try {
    // Events may arrive while the request is in flight, so `state` is read after it.
    const { points, ...found } = await details(state.live.series.at(-1)?.atMs ?? 0);
    update({ live: { ...state.live, ...found, series: withPoints(state.live.series, points) } });
  } catch {
    // The event stream reports the state of the shard; the next cycle polls again.
  } finally {
    isPolling = false;
  }
}

/** Data that events do not carry, with points of the series after `sinceMs`. */
async function details(sinceMs: number): Promise<Details & { readonly points: readonly Point[] }> {
  const [shortfalls, clusters, failed, freezes, plan, { points }] = await Promise.all([
    read<{ items: Shortfall[] }>(`/v1/shortfalls?limit=${MAX_SHORTFALLS}`),
    read<{ items: Cluster[]; total: number }>(`/v1/clusters?order=trouble&limit=${MAX_CLUSTERS}`),
    read<{ items: FailedMachine[]; total: number }>(`/v1/machines?state=FAILED&limit=${MAX_FAILED}`),
    read<{ items: Freeze[] }>(`/v1/freezes?id=${FLEET_FREEZE}`),
    read<Plan>(`/v1/plan?limit=${MAX_PLANNED}`),
    read<{ points: Point[] }>(`/v1/series?since=${sinceMs}`),
  ]);
  return {
    ...{ shortfalls: shortfalls.items, clusters: clusters.items, clustersTotal: clusters.total },
    ...{ failed: failed.items, failedTotal: failed.total, freezes: freezes.items },
    ...{ plan, points },
  };
}

async function read<T>(path: string): Promise<T> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as T;
}

function listen(): void {
  const source = new EventSource('/v1/events?since=0');
  for (const kind of ['cycle', 'action-started', 'action-ended', 'loss', 'losses', 'log']) {
    source.addEventListener(kind, (event: MessageEvent<string>) =>
      receive(JSON.parse(event.data) as ShardEvent),
    );
  }
  source.addEventListener('open', () => void begin());
  source.addEventListener('error', () => {
    update({ trouble: `No connection to the shard since ${timeOfDay(receivedMs)}; trying again.` });
    // Browsers reconnect by themselves unless the server refused the connection.
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, RETRY_MS);
  });
}

/** Reads the status and the available demo scenarios when a connection is made. */
async function begin(): Promise<void> {
  try {
    receive({ kind: 'cycle', status: await read<Status>('/v1/status') });
    const scenarios = await fetch('/up/stories');
    update({ scenarios: scenarios.ok ? namesOf(await scenarios.json()) : [] });
  } catch {
    // The event stream reports the state of the connection.
  }
}

/** Names, in an array or in the `items` of an answer. */
function namesOf(answer: unknown): readonly string[] {
  const list = Array.isArray(answer) ? answer : (answer as { items?: unknown }).items;
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
}

async function send(method: string, path: string, body?: object): Promise<void> {
  try {
    const response = await fetch(path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const answer = (await response.json()) as { message?: string; error?: { message: string } };
    showNotice(
      answer.message ?? answer.error?.message ?? (response.ok ? 'Done.' : `Refused: ${response.status}.`),
    );
    void pollDetails();
  } catch {
    showNotice('The shard did not answer.');
  }
}

/** Shows who uses a machine, or what a Need lives on. */
async function explain(name: string): Promise<void> {
  try {
    for (const path of pathsOf(name)) {
      const response = await fetch(path);
      if (!response.ok) continue;
      update({ answer: answerLines((await response.json()) as AskedMachine | AskedNeed) });
      return;
    }
    update({ answer: [`There is no machine and no Need ${name}.`] });
  } catch {
    update({ answer: ['The shard did not answer.'] });
  }
}

document.addEventListener('submit', (event) => {
  event.preventDefault();
  const name = (document.getElementById('asked') as HTMLInputElement).value.trim();
  if (name !== '') void explain(name);
});

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null;
  const { scenario, freeze } = button?.dataset ?? {};
  if (scenario !== undefined) void send('POST', `/up/stories/${encodeURIComponent(scenario)}`, {});
  if (freeze === 'on') void send('POST', '/v1/freezes', { who: WHO, why: 'button on the page' });
  if (freeze === 'off') void send('DELETE', `/v1/freezes/${FLEET_FREEZE}?who=${encodeURIComponent(WHO)}`);
});

setInterval(() => {
  if (state.trouble === '' && Date.now() - receivedMs > SILENCE_MS) {
    update({ trouble: `Nothing received from the shard since ${timeOfDay(receivedMs)}.` });
  }
}, SILENCE_MS / 2);

listen();
