// The control port of `bigfleet provider fake --control`: JSON over HTTP to read and change the settings of the fake
// cloud and to trigger losses, stock-outs and outages. Bound to loopback only, because it has no authentication.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import * as z from 'zod';
import { BigFleetError, excerpt } from '../../model/index.ts';
import { numberIn, requireValid } from '../../runtime/validation.ts';
import { isLoopback } from '../../wire/index.ts';
import type { FakeProvider } from './fake-provider.ts';
import type { SettingsPatch } from './settings.ts';

const MAX_BODY_BYTES = 1024 * 1024;

export interface ControlServer {
  readonly address: string;
  close(): Promise<void>;
}

const COUNT = numberIn({ min: 0 });
const TEXT = z.string();

const HOSTS = z.strictObject({
  machine: TEXT.exactOptional(),
  zone: TEXT.exactOptional(),
  offering: TEXT.exactOptional(),
  cluster: TEXT.exactOptional(),
  count: COUNT.exactOptional(),
});
const STOCK_OUT = z.strictObject({ offering: TEXT, seconds: COUNT.optional() });
const OUTAGE = z.strictObject({ zone: TEXT, seconds: COUNT.optional() });

type Route = (provider: FakeProvider, body: unknown) => unknown;

const ROUTES: Readonly<Record<string, Route>> = {
  'GET /settings': ({ cloud }) => cloud.settings,
  'PATCH /settings': ({ cloud }, body) => cloud.set(body as SettingsPatch),
  'GET /status': ({ cloud, kit, counts }) => ({
    machines: kit.machineCount,
    hosts: cloud.hostCount,
    transitions: kit.runningCount,
    transport: counts,
  }),
  'POST /interrupt': ({ cloud }, body) => ({ machines: cloud.interrupt(read(HOSTS, body)) }),
  'POST /kill': ({ cloud }, body) => ({ machines: cloud.kill(read(HOSTS, body)) }),
  'POST /stock-out': ({ cloud }, body) => {
    const { offering, seconds } = read(STOCK_OUT, body);
    cloud.stockOut(offering, seconds === undefined ? undefined : seconds * 1000);
    return {};
  },
  'POST /outage': ({ cloud }, body) => {
    const { zone, seconds } = read(OUTAGE, body);
    return { machines: cloud.outage(zone, seconds === undefined ? undefined : seconds * 1000) };
  },
};

function read<T>(schema: z.ZodType<T>, body: unknown): T {
  return requireValid(schema, body, 'BF_USAGE', 'The request');
}

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
    const isInvalid = error instanceof BigFleetError;
    send(isInvalid ? 400 : 500, { error: error instanceof Error ? error.message : String(error) });
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new BigFleetError('BF_USAGE', 'The request is too large.');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
  } catch (error) {
    const message = `The request is not JSON: ${excerpt((error as Error).message)}.`;
    throw new BigFleetError('BF_USAGE', message, { cause: error });
  }
}
