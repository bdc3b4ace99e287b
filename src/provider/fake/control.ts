// The control port of a fake cloud in its own process: JSON over HTTP to read and change settings and to trigger losses,
// stock-outs and outages. Bound to loopback only, because it has no authentication.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { BigFleetError } from '../../model/index.ts';
import { isLoopback } from '../../wire/index.ts';
import type { FakeProvider } from './fake-provider.ts';
import type { SettingsPatch } from './settings.ts';

const MAX_BODY_BYTES = 1024 * 1024;

export interface ControlServer {
  readonly address: string;
  close(): Promise<void>;
}

type Body = Readonly<Record<string, unknown>>;
type Route = (provider: FakeProvider, body: Body) => unknown;

const ROUTES: Readonly<Record<string, Route>> = {
  'GET /settings': ({ cloud }) => cloud.settings,
  'PATCH /settings': ({ cloud }, body) => cloud.set(body as SettingsPatch),
  'GET /status': ({ cloud, kit, counts }) => ({
    machines: kit.machineCount,
    hosts: cloud.hostCount,
    transitions: kit.runningCount,
    transport: counts,
  }),
  'POST /interrupt': ({ cloud }, body) => ({ machines: cloud.interrupt(selectorOf(body)) }),
  'POST /kill': ({ cloud }, body) => ({ machines: cloud.kill(selectorOf(body)) }),
  'POST /stock-out': ({ cloud }, body) => {
    cloud.stockOut(textOf(body, 'offering') ?? '', msOf(body));
    return {};
  },
  'POST /outage': ({ cloud }, body) => ({ machines: cloud.outage(textOf(body, 'zone') ?? '', msOf(body)) }),
};

export async function serveControl(provider: FakeProvider, address: string): Promise<ControlServer> {
  if (!isLoopback(address)) {
    throw new BigFleetError('BF_USAGE', `The control port stays on loopback; ${address} is elsewhere.`);
  }
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const server = createServer((request, response) => void answer(provider, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(Number(address.slice(colon + 1)), host, resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return {
    address: `${address.slice(0, colon)}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  provider: FakeProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const send = (code: number, value: unknown) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify(value, null, 2)}\n`);
  };
  // Against DNS rebinding: a web page can use a name that resolves to loopback, but the browser sends that name as Host.
  if (!isLoopback(request.headers.host ?? '')) return send(403, { error: 'Ask a loopback address.' });
  const route = ROUTES[`${request.method} ${request.url}`];
  if (route === undefined) return send(404, { error: `There are: ${Object.keys(ROUTES).join(', ')}.` });
  try {
    send(200, route(provider, request.method === 'GET' ? {} : await bodyOf(request)));
  } catch (error) {
    const isTheirs = error instanceof BigFleetError || error instanceof SyntaxError;
    send(isTheirs ? 400 : 500, { error: error instanceof Error ? error.message : String(error) });
  }
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new BigFleetError('BF_USAGE', 'The request is too large.');
    chunks.push(chunk);
  }
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  throw new BigFleetError('BF_USAGE', 'The request must be a JSON object.');
}

function selectorOf(body: Body) {
  const known = ['machine', 'zone', 'offering', 'cluster', 'count'];
  const stray = Object.keys(body).filter((key) => !known.includes(key));
  if (stray.length > 0) {
    throw new BigFleetError('BF_USAGE', `Unknown: ${stray.join(', ')}; known: ${known.join(', ')}.`);
  }
  const texts = ['machine', 'zone', 'offering', 'cluster'].flatMap((key) => {
    const text = textOf(body, key);
    return text === undefined ? [] : [[key, text] as const];
  });
  const count = numberOf(body, 'count');
  return { ...Object.fromEntries(texts), ...(count === undefined ? {} : { count }) };
}

function msOf(body: Body): number | undefined {
  const seconds = numberOf(body, 'seconds');
  return seconds === undefined ? undefined : seconds * 1000;
}

function textOf(body: Body, key: string): string | undefined {
  const value = body[key];
  if (value === undefined || typeof value === 'string') return value;
  throw new BigFleetError('BF_USAGE', `"${key}" must be a text.`);
}

function numberOf(body: Body, key: string): number | undefined {
  const value = body[key];
  if (value === undefined || (typeof value === 'number' && value >= 0)) return value;
  throw new BigFleetError('BF_USAGE', `"${key}" must be a number, 0 or more.`);
}
