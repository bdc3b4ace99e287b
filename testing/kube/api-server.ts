// Serves the fake Kubernetes API over real HTTP or HTTPS on loopback, with bearer tokens and injected faults. Can be
// stopped and started again on the same port with its state, as a restarted API server.
//
//   const server = await ApiServer.start();
//   server.api.addToken('operator-token', { name: 'system:serviceaccount:bigfleet:operator', groups: [] });
//   const client = new HttpKubeClient({ connection: server.connection('operator-token'), userAgent: 'test' });

import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fixedText, type KubeConnection, staticCredentials } from '../../src/operator/kube/index.ts';
import { type Issued, issueCertificate, makeAuthority } from '../../src/wire/grpc/certificates.ts';
import { quietPort } from '../support/quiet-port.ts';
import { ApiError, badRequest } from './api-errors.ts';
import { FakeApi, type FakeApiOptions, type ParsedRequest } from './fake-api.ts';
import type { FaultAnswer } from './faults.ts';
import type { User } from './rbac.ts';
import type { WatchSink } from './watches.ts';

export const ADMIN_TOKEN = 'admin-token';
const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** A watch whose reader is this far behind is closed, as by real API servers. */
const MAX_BEHIND_BYTES = 16 * 1024 * 1024;

export interface ApiServerOptions extends FakeApiOptions {
  readonly tls?: boolean;
  /** Default: one that stays free while the server is stopped. */
  readonly port?: number;
}

export class ApiServer {
  readonly api: FakeApi;
  /** Requests that were refused for missing rights or because of what they write: 'USER-AGENT METHOD PATH: STATUS MESSAGE'. */
  readonly refusals: string[] = [];
  readonly #authority: Issued | null;
  readonly #leaf: Issued | null;
  #server: Server | null = null;
  #port: number;

  private constructor(options: ApiServerOptions) {
    this.api = new FakeApi(options);
    this.api.addToken(ADMIN_TOKEN, { name: 'admin', groups: ['system:masters'] });
    this.#port = options.port ?? 0;
    const validity = {
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 86_400_000),
    };
    this.#authority = options.tls === true ? makeAuthority({ name: 'test-ca', ...validity }) : null;
    this.#leaf =
      this.#authority === null
        ? null
        : issueCertificate(this.#authority, {
            name: 'kube-apiserver',
            ipAddresses: ['127.0.0.1'],
            dnsNames: ['localhost'],
            ...validity,
          });
  }

  static async start(options: ApiServerOptions = {}): Promise<ApiServer> {
    const server = new ApiServer({ ...options, port: options.port ?? (await quietPort()) });
    await server.start();
    return server;
  }

  get url(): string {
    return `${this.#leaf === null ? 'http' : 'https'}://127.0.0.1:${this.#port}`;
  }

  /** PEM of the authority that signed its certificate; null without TLS. */
  get ca(): string | null {
    return this.#authority?.certificate ?? null;
  }

  connection(token = ADMIN_TOKEN): KubeConnection {
    return {
      server: this.url,
      serverName: null,
      ca: this.ca === null ? null : fixedText(this.ca),
      skipTlsVerify: false,
      credentials: staticCredentials({ token }, 'the token of the test'),
      namespace: 'default',
      origin: 'the test',
    };
  }

  /** Listens again on the port that it had. */
  async start(): Promise<void> {
    const handler = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#handle(request, response);
    const leaf = this.#leaf;
    const server =
      leaf === null
        ? createHttpServer(handler)
        : createHttpsServer({ key: leaf.key, cert: leaf.certificate }, handler);
    server.keepAliveTimeout = 90_000;
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** All connections break, as when the process is killed. The objects stay. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    this.api.watches.closeAll();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A connection that the client closes early is no failure of the server.
    response.on('error', () => {});
    request.on('error', () => {});
    response.setHeader('Date', new Date(this.api.clock.now()).toUTCString());
    try {
      const body = await bodyOf(request);
      const parsed = this.api.parse(request.method ?? 'GET', request.url ?? '/');
      const { delayMs } = this.api.faults.settings;
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      const fault = this.api.faults.take(parsed);
      if (fault !== undefined) return failed(response, fault);
      if (plain(parsed, response)) return;
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
      const user = this.api.userOf(token);
      if (parsed.verb === 'watch') return this.#watch(user, parsed, response);
      const contentType = request.headers['content-type'] ?? 'application/json';
      const answer = this.api.request(user, parsed, parseBody(body), contentType);
      send(response, answer.status, answer.body);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 403 || error.code === 422)
        this.refusals.push(
          `${request.headers['user-agent']} ${request.method} ${request.url}: ${error.code} ${error.message}`,
        );
      if (error.retryAfterSeconds !== null) response.setHeader('Retry-After', error.retryAfterSeconds);
      send(response, error.code, error.status);
    }
  }

  #watch(user: User, request: ParsedRequest, response: ServerResponse): void {
    let close = (): void => {};
    const start = (): void => {
      if (response.headersSent) return;
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.flushHeaders();
    };
    const sink: WatchSink = {
      line: (type, object) => {
        start();
        response.write(`${JSON.stringify({ type, object })}\n`);
        if (response.writableLength > MAX_BEHIND_BYTES) {
          close();
          response.end();
        }
      },
      cut: () => {
        start();
        response.write('{"type":"MODIFIED","object":{"metadata":{"na');
        setImmediate(() => response.destroy());
      },
      end: () => {
        start();
        response.end();
      },
    };
    close = this.api.watch(user, request, sink);
    response.on('close', () => close());
    start();
  }
}

/** Paths that are no resources. */
function plain({ path }: ParsedRequest, response: ServerResponse): boolean {
  if (path === '/version') send(response, 200, { major: '1', minor: '36', gitVersion: 'v1.36.3' });
  else if (['/readyz', '/livez', '/healthz'].includes(path)) response.end('ok');
  else return false;
  return true;
}

function failed(response: ServerResponse, fault: FaultAnswer): void {
  if (fault === 'hang') return;
  if (fault === 'reset') {
    response.destroy();
    return;
  }
  const { status, body, retryAfterSeconds } = fault;
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds);
  if (body === undefined)
    send(response, status, new ApiError(status, reasonOf(status), 'injected by the test').status);
  else response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
}

function reasonOf(status: number): string {
  const reasons: Readonly<Record<number, string>> = {
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    409: 'Conflict',
    410: 'Expired',
    429: 'TooManyRequests',
    503: 'ServiceUnavailable',
  };
  return reasons[status] ?? 'InternalError';
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES)
      throw new ApiError(413, 'RequestEntityTooLarge', `limit is ${MAX_BODY_BYTES}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseBody(body: string): unknown {
  if (body === '') return null;
  try {
    return JSON.parse(body);
  } catch (error) {
    throw badRequest(`the object provided is unrecognized: ${(error as Error).message}`);
  }
}
