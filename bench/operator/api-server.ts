// The API server of `bench operator`, over HTTP on loopback: lists of the generated cluster in pages, watches that carry the
// events of the benchmark, and answers to writes that keep nothing. It runs in the process of the benchmark, so that its time
// and memory do not count.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GeneratedCluster } from './workload.ts';

/** Objects of a list by its path, as JSON texts. */
type Lists = ReadonlyMap<string, () => Generator<string>>;

/** Collections without objects. */
const EMPTY = [
  '/apis/scheduling.k8s.io/v1/priorityclasses',
  ...['capacityrequests', 'upcomingnodes', 'availablecapacities'].map(
    (plural) => `/apis/bigfleet.lucy.sh/v1alpha1/${plural}`,
  ),
];

const FIRST_VERSION = '1000000000';

export class GeneratedApiServer {
  readonly #server: Server;
  readonly #lists: Lists;
  /** Lists that are being read, by continue token. */
  readonly #begun = new Map<string, Generator<string>>();
  readonly #watches = new Set<ServerResponse>();
  #tokens = 0;

  constructor(cluster: GeneratedCluster) {
    this.#lists = listsOf(cluster);
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Sends events of pods on every watch of pods. */
  async send(events: Iterable<string>): Promise<void> {
    const text = `${[...events].join('\n')}\n`;
    for (const watch of this.#watches)
      if (!watch.write(text)) await new Promise((resolve) => watch.once('drain', resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const list = this.#lists.get(pathname);
    if (request.method !== 'GET') echo(request, response);
    else if (list === undefined) notFound(response, pathname);
    else if (searchParams.get('watch') === 'true') this.#watch(pathname, response);
    else this.#page(list, searchParams, response);
  }

  #watch(pathname: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (pathname !== '/api/v1/pods') return;
    this.#watches.add(response);
    response.on('close', () => this.#watches.delete(response));
  }

  #page(list: () => Generator<string>, query: URLSearchParams, response: ServerResponse): void {
    const token = query.get('continue');
    const objects = token === null ? list() : this.#begun.get(token);
    this.#begun.delete(token ?? '');
    if (objects === undefined) {
      notFound(response, `page ${token}`);
      return;
    }
    const items: string[] = [];
    const most = Number(query.get('limit') ?? Number.MAX_SAFE_INTEGER);
    let isEnd = false;
    while (!isEnd && items.length < most) {
      const { done, value } = objects.next();
      isEnd = done === true;
      if (!isEnd) items.push(value as string);
    }
    const next = isEnd ? '' : `page-${++this.#tokens}`;
    if (!isEnd) this.#begun.set(next, objects);
    const metadata = JSON.stringify({ resourceVersion: FIRST_VERSION, ...(isEnd ? {} : { continue: next }) });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"kind":"List","apiVersion":"v1","metadata":${metadata},"items":[${items.join(',')}]}`);
  }
}

function listsOf(cluster: GeneratedCluster): Lists {
  const of = (objects: () => Iterable<object>) =>
    function* texts(): Generator<string> {
      for (const object of objects()) yield JSON.stringify(object);
    };
  const core = '/api/v1';
  return new Map<string, () => Generator<string>>([
    [`${core}/pods`, () => cluster.pods()],
    [`${core}/nodes`, of(() => cluster.nodes())],
    [`${core}/namespaces`, of(() => cluster.namespaces())],
    [`${core}/persistentvolumeclaims`, of(() => [...cluster.volumes()].map(({ claim }) => claim))],
    [`${core}/persistentvolumes`, of(() => [...cluster.volumes()].map(({ volume }) => volume))],
    ['/apis/apps/v1/daemonsets', of(() => cluster.daemonSets())],
    ['/apis/policy/v1/poddisruptionbudgets', of(() => cluster.budgets())],
    ...EMPTY.map((path) => [path, of(() => [])] as const),
  ]);
}

function notFound(response: ServerResponse, what: string): void {
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ kind: 'Status', status: 'Failure', code: 404, message: `no ${what}` }));
}

/** A write succeeds and its object is what was sent. */
function echo(request: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
    response.end(parts.length === 0 ? '{}' : Buffer.concat(parts));
  });
}
