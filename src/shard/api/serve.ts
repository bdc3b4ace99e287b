// The server of a shard's read and control API: address, TLS, timeouts, limits on connections, and its end. The API is
// JSON over HTTP, for commands, the dashboard, probes and Prometheus. It uses the shard through `ShardPort` only, so
// that it serves a simulated shard as well. http-app.ts handles requests. Started by process/shard.ts.

import { constants } from 'node:crypto';
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { BigFleetError, printable } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { isLoopback, KeyPair, type SecurityOptions } from '../../wire/index.ts';
import type { PastCyclesPort, ShardPort, WhatIfPort } from '../views.ts';
import { ApiAccess } from './access.ts';
import { EVENT_STREAM_LIMITS, EventStream, type EventStreamLimits } from './event-stream.ts';
import { httpApp, type Pages } from './http-app.ts';
import type { RouteHooks } from './route.ts';
import { TokenFile } from './token-file.ts';

export interface ApiOptions extends SecurityOptions {
  /** All metrics of the process; by default those of the port. */
  readonly metrics?: RouteHooks['metrics'];
  /** Why the shard is not ready, null if it is; by default derived from the phase in its status. */
  readonly unready?: RouteHooks['unready'];
  readonly whatIf?: WhatIfPort;
  /** Past cycles; null or absent: the shard keeps no journal. */
  readonly cycles?: PastCyclesPort | null;
  readonly pages?: Pages | undefined;
  /** Answers browsers without an identity, in place of pages. Asked only where there are tokens to log in with. */
  readonly loginPages?: Pages | undefined;
  /** File with the tokens of callers; by default there are none. */
  readonly tokensFile?: string | undefined;
  /** Logs logins and changes of the file with tokens; by default nothing. */
  readonly log?: Log;
  readonly clock?: Clock;
  readonly events?: EventStreamLimits;
  /** Longest time of the shard for an answer. */
  readonly answerMs?: number;
  /** Longest time that an answer in pieces waits for its reader, all waits together. */
  readonly readerWaitMs?: number;
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
  /** Connections, requests and readers refused or disconnected by a limit since the start. */
  readonly counters: ApiCounters;
  close(): Promise<void>;
}

const ANSWER_MS = 30_000;

/** Short enough that an export, of which there is one at a time, ends; a document of 100 MB takes 14 Mbit/s. */
const READER_WAIT_MS = 60_000;

/** Idle time after which a connection is closed; streams of events send heartbeats. */
const IDLE_MS = 60_000;
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
/** Interval at which Node enforces these timeouts; its default would give an endless request 30 s more. */
const CHECKS = { connectionsCheckingInterval: 1_000 };
const MAX_CONNECTIONS = 512;

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
  const { host, portNumber } = hostAndPort(address);
  const onLoopback = isLoopback(address);
  if (options.tls === null && options.insecure !== true && !onLoopback) {
    throw new BigFleetError('BF_PLAINTEXT_REFUSED', `${address} is not a loopback address.`);
  }
  const tokens = tokenFileOf(address, options);
  const { clock = systemClock, log = () => {} } = options;
  const access = new ApiAccess({ isRequired: !onLoopback || options.tls !== null, tokens, clock, log });
  const events = new EventStream(port, options.events ?? EVENT_STREAM_LIMITS);
  const hooks: RouteHooks = {
    metrics: options.metrics ?? (() => port.ask('metrics', {})),
    unready: options.unready ?? (() => unreadyPhase(port)),
    whatIf: options.whatIf ?? null,
    cycles: options.cycles ?? null,
    readerWaitMs: options.readerWaitMs ?? READER_WAIT_MS,
    access,
    subscribe: (reader, from, wanted) => events.add(reader, from, wanted),
  };
  const tally = { connections: 0, requests: 0, malformed: 0 };
  const { server } = await httpApp({
    port,
    hooks,
    pages: options.pages,
    loginPages: tokens === null ? undefined : options.loginPages,
    checksHost: onLoopback,
    answerMs: options.answerMs ?? ANSWER_MS,
    serverFactory: (listener) => serverOf(options, withHeaders(listener)),
    onClientError: (error, socket) => answerClientError(error, socket, tally),
    onOverload: () => tally.requests++,
  });
  server.on('drop', () => tally.connections++);
  const found = await listening(server, portNumber, host);
  access.start();
  const shown = `${address.slice(0, address.lastIndexOf(':'))}:${found}`;
  return {
    address: shown,
    url: `${options.tls === null ? 'http' : 'https'}://${shown}`,
    get counters() {
      return { ...tally, news_refused: events.refused, news_slow: events.slow };
    },
    close: () => {
      access.stop();
      events.close();
      return closed(server);
    },
  };
}

/** Refuses to serve other hosts if there is no way to know who calls. Over TLS there are certificates. */
function tokenFileOf(address: string, { tokensFile, tls, log = () => {} }: ApiOptions): TokenFile | null {
  if (tokensFile !== undefined) return new TokenFile(tokensFile, log);
  if (tls !== null || isLoopback(address)) return null;
  throw new BigFleetError('BF_API_WITHOUT_IDENTITY', `${address} is not a loopback address.`);
}

function hostAndPort(address: string): { host: string; portNumber: number } {
  const [, host, port] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || Number(port) > 65_535) {
    throw new BigFleetError('BF_USAGE', `"${printable(address)}" is not HOST:PORT.`);
  }
  return { host: host.replace(/^\[|\]$/g, ''), portNumber: Number(port) };
}

type AnyServer = HttpServer | HttpsServer;

function serverOf({ tls }: SecurityOptions, listener: RequestListener): AnyServer {
  const server = tls === null ? createHttpServer(CHECKS, listener) : tlsServer(new KeyPair(tls), listener);
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.timeout = IDLE_MS;
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** Certificates are checked per request and not in the handshake, because probes have none. */
function tlsServer(pair: KeyPair, listener: RequestListener): HttpsServer {
  // No session tickets: every connection must present its certificate.
  const demands = { requestCert: true, rejectUnauthorized: false, secureOptions: constants.SSL_OP_NO_TICKET };
  const server = createHttpsServer({ ...pair.context, ...demands, ...CHECKS }, listener);
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

async function unreadyPhase(port: ShardPort): Promise<string | null> {
  const { phase } = await port.ask('status', {});
  return phase === 'running' ? null : phase;
}

/** On the response itself, so that pages, event streams and refusals of malformed paths have them too. */
function withHeaders(listener: RequestListener): RequestListener {
  return (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    // The client has disconnected, so the error cannot be reported to it.
    response.on('error', () => {});
    listener(request, response);
  };
}

/** Answers bytes that are not an HTTP request, or a request that is not completed in time. */
function answerClientError(error: Error, socket: Duplex, tally: { malformed: number }): void {
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
