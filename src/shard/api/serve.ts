// The read and control API of a shard: JSON over HTTP, for commands, web pages, probes and Prometheus. It knows the shard
// by its port alone, so that it serves a simulated one as well. Paths are in routes.ts, who may ask in guard.ts.

import { constants } from 'node:crypto';
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { BigFleetError, excerpt, printable } from '../../model/index.ts';
import { isLoopback, KeyPair, type SecurityOptions } from '../../wire/index.ts';
import type { ShardPort } from '../views.ts';
import { EVENT_STREAM_LIMITS, EventStream, type EventStreamLimits } from './event-stream.ts';
import { checkIdentity, checkOrigin } from './guard.ts';
import { bodyOf } from './input.ts';
import { matchRoute } from './match.ts';
import { Refusal, refusalOf } from './refusal.ts';
import type { Reply, RouteHooks } from './routes.ts';

export interface ApiOptions extends SecurityOptions {
  /** All metrics of the process; by default those that the port has. */
  readonly metrics?: RouteHooks['metrics'];
  /** Why the shard is not ready, null if it is; by default by the phase in its status. */
  readonly unready?: RouteHooks['unready'];
  /** Serves what is not below `/v1/`, GET and POST; false: there is no such page. */
  readonly pages?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  readonly events?: EventStreamLimits;
  /** How long the shard may take over an answer. */
  readonly answerMs?: number;
}

interface ApiCounters {
  readonly connections: number;
  readonly requests: number;
  readonly malformed: number;
  readonly news_refused: number;
  readonly news_slow: number;
}

export interface ApiServer {
  /** HOST:PORT, with the port actually bound if 0 was given. */
  readonly address: string;
  readonly url: string;
  /** Connections, requests and readers refused or cut off by a limit since the start. */
  readonly counters: ApiCounters;
  close(): Promise<void>;
}

const ANSWER_MS = 30_000;

/** Idle time after which a connection is closed; streams of events send heartbeats. */
const IDLE_MS = 60_000;
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
/** Interval at which Node enforces these timeouts; its default would give an endless request 30 s more. */
const CHECKS = { connectionsCheckingInterval: 1_000 };
const MAX_CONNECTIONS = 512;
/** Most in-flight requests; each may be a question queued at the controller, and an answer of some megabytes. */
const MAX_REQUESTS = 64;

/** Longest wait at close for answers that are being written. */
const FAREWELL_MS = 1_000;

/** Interval at which the certificate files are checked for changes. */
const WATCH_MS = 5_000;

/** For pages too: no response may be framed by another site (clickjacking) or cached. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
};

export async function serveApi(port: ShardPort, address: string, options: ApiOptions): Promise<ApiServer> {
  const { host, portNumber } = placeOf(address);
  const onLoopback = isLoopback(address);
  if (options.tls === null && options.insecure !== true && !onLoopback) {
    throw new BigFleetError('BF_PLAINTEXT_REFUSED', `${address} is not a loopback address.`);
  }
  const events = new EventStream(port, options.events ?? EVENT_STREAM_LIMITS);
  const hooks: RouteHooks = {
    metrics: options.metrics ?? (() => port.ask('metrics', {})),
    unready: options.unready ?? (() => phaseTrouble(port)),
    subscribe: (reader, from) => events.add(reader, from),
  };
  const tally = { connections: 0, requests: 0, malformed: 0 };
  const context: ServerContext = { port, hooks, options, checksHost: onLoopback, tally, underWay: 0 };
  const server = serverOf(options, (request, response) => void handle(context, request, response));
  server.on('drop', () => tally.connections++);
  server.on('clientError', (error, socket) => answerNoHttp(error, socket, tally));
  const found = await listening(server, portNumber, host);
  const shown = `${address.slice(0, address.lastIndexOf(':'))}:${found}`;
  return {
    address: shown,
    url: `${options.tls === null ? 'http' : 'https'}://${shown}`,
    get counters() {
      return { ...tally, news_refused: events.refused, news_slow: events.slow };
    },
    close: () => {
      events.close();
      return closed(server);
    },
  };
}

interface ServerContext {
  readonly port: ShardPort;
  readonly hooks: RouteHooks;
  readonly options: ApiOptions;
  readonly checksHost: boolean;
  readonly tally: { connections: number; requests: number; malformed: number };
  /** Requests that wait for an answer of the shard. */
  underWay: number;
}

function placeOf(address: string): { host: string; portNumber: number } {
  const [, host, port] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || Number(port) > 65_535) {
    throw new BigFleetError('BF_USAGE', `"${printable(address)}" is not HOST:PORT.`);
  }
  return { host: host.replace(/^\[|\]$/g, ''), portNumber: Number(port) };
}

type AnyServer = HttpServer | HttpsServer;

function serverOf(
  { tls }: SecurityOptions,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): AnyServer {
  const server = tls === null ? createHttpServer(CHECKS, answer) : tlsServer(new KeyPair(tls), answer);
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.timeout = IDLE_MS;
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** Certificates are checked per request and not in the handshake, because probes have none. */
function tlsServer(
  pair: KeyPair,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): HttpsServer {
  // No session tickets: every connection must present its certificate.
  const demands = { requestCert: true, rejectUnauthorized: false, secureOptions: constants.SSL_OP_NO_TICKET };
  const server = createHttpsServer({ ...pair.context, ...demands, ...CHECKS }, answer);
  const watch = setInterval(() => {
    if (pair.refresh()) server.setSecureContext(pair.context);
  }, WATCH_MS).unref();
  server.on('close', () => clearInterval(watch));
  return server;
}

async function listening(server: AnyServer, port: number, host: string): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (cause) {
    throw new BigFleetError('BF_LISTEN_FAILED', `${(cause as Error).message}.`, { cause });
  }
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : port;
}

function closed(server: AnyServer): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), FAREWELL_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

async function phaseTrouble(port: ShardPort): Promise<string | null> {
  const { phase } = await port.ask('status', {});
  return phase === 'running' ? null : phase;
}

async function handle(
  context: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  // The client has disconnected, so the error cannot be reported to it.
  response.on('error', () => {});
  try {
    checkOrigin(request, context.checksHost);
    send(response, await replyTo(context, request, response));
  } catch (error) {
    refuse(request, response, refusalOf(error));
  }
}

async function replyTo(
  context: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Reply> {
  const { method = '', url = '' } = request;
  const [path = '', query = ''] = url.split('?', 2);
  const match = matchRoute(method, path);
  if (match === null) return await page(context, path, request, response);
  const { route, params } = match;
  checkIdentity(request, route.access);
  const body = method === 'POST' ? await bodyOf(request) : {};
  const { port, hooks, options } = context;
  const lastEventId = request.headers['last-event-id']?.toString();
  const call = { port, params, query: new URLSearchParams(query), body, response, hooks, lastEventId };
  // Probes are exempt from the limit, so that load does not make the shard look dead.
  if (route.access !== 'open' && context.underWay >= MAX_REQUESTS) {
    context.tally.requests++;
    throw new Refusal(503, `${MAX_REQUESTS} requests wait for an answer already.`, { 'retry-after': '1' });
  }
  context.underWay++;
  try {
    return await within(options.answerMs ?? ANSWER_MS, route.answer(call));
  } finally {
    context.underWay--;
  }
}

/** Answers bytes that are not an HTTP request, or a request that is not completed in time. */
function answerNoHttp(error: Error, socket: Duplex, tally: { malformed: number }): void {
  const code = 'code' in error ? error.code : '';
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  tally.malformed++;
  const isLate = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const isLong = code === 'HPE_HEADER_OVERFLOW';
  const line = isLate
    ? '408 Request Timeout'
    : isLong
      ? '431 Request Header Fields Too Large'
      : '400 Bad Request';
  socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
}

async function page(
  { options }: ServerContext,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Reply> {
  const { method } = request;
  if (options.pages !== undefined && (method === 'GET' || method === 'POST') && !path.startsWith('/v1/')) {
    checkIdentity(request, method === 'GET' ? 'read' : 'order');
    // Posts of pages follow the rules for orders; otherwise a page of another site could send them (CSRF).
    if (method === 'POST') await bodyOf(request);
    if (await options.pages(request, response)) return { kind: 'taken' };
  }
  throw new Refusal(404, `There is nothing at ${excerpt(path)}; docs/reference/api.md lists what there is.`);
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const message = `The shard took longer than ${ms / 1000} s; an order may or may not have taken effect.`;
  const timer = setTimeout(() => reject(new Refusal(504, message)), ms);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function send(response: ServerResponse, reply: Reply): void {
  if (reply.kind === 'taken') return;
  if (reply.kind === 'text') {
    response.writeHead(reply.status, { 'content-type': reply.type });
    response.end(reply.text);
    return;
  }
  const text = `${JSON.stringify(reply.value)}\n`;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text);
}

function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  // The headers are sent, so the status cannot change: the client must not take a partial answer for a complete one.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, code, message, headers } = refusal;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(`${JSON.stringify({ error: { code, message } })}\n`, () => {
    // Otherwise the server would go on reading the rest of an oversized body.
    if (headers['connection'] === 'close') request.destroy();
  });
}
