// Sends single HTTP requests to an API server over node:https with kept-alive connections. Follows replaced
// certificates and authorities: a change takes effect with the next connection. Knows nothing of Kubernetes; used by
// http-client.ts.

import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../runtime/clock.ts';
import type { Credentials, KubeConnection } from './connection.ts';
import { type Attempt, connectionError, timeoutError, tooLargeError } from './failures.ts';

/**
 * Unused connections are closed after this time. Below the 90 s after which API servers close them, and below the limits
 * of common load balancers: a request on a connection that the other end just closed fails.
 */
const IDLE_CONNECTION_MS = 30_000;
const MAX_IDLE_CONNECTIONS = 32;

export interface HttpRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string | null;
  readonly attempt: Attempt;
  /** Until the complete answer, or until the header of a stream. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

interface Secured {
  readonly ca: string | null;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  readonly agent: HttpAgent;
}

export class Transport {
  readonly #connection: KubeConnection;
  readonly #clock: Clock;
  readonly #isHttps: boolean;
  readonly #target: RequestOptions;
  readonly #prefix: string;
  #secured: Secured | null = null;

  constructor(connection: KubeConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
    const url = new URL(connection.server);
    this.#isHttps = url.protocol === 'https:';
    this.#prefix = url.pathname.replace(/\/$/, '');
    this.#target = {
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (this.#isHttps ? 443 : 80) : Number(url.port),
    };
  }

  /** The complete answer. Rejects with a `KubeError` if there is none, or with the reason of the signal. */
  async exchange(credentials: Credentials, request: HttpRequest, maxBytes: number): Promise<HttpAnswer> {
    return await this.#started(credentials, request, async (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxBytes) {
          response.destroy();
          throw tooLargeError(request.attempt, maxBytes);
        }
        chunks.push(chunk);
      }
      if (!response.complete) throw connectionError(request.attempt, new Error('the answer ended early'));
      return { ...head(response), body: Buffer.concat(chunks, bytes).toString('utf8') };
    });
  }

  /** The answer as a stream, which the caller must read to its end or destroy. */
  async open(
    credentials: Credentials,
    request: HttpRequest,
  ): Promise<HttpAnswer & { stream: IncomingMessage }> {
    return await this.#started(credentials, request, (response) =>
      Promise.resolve({ ...head(response), body: '', stream: response }),
    );
  }

  /** Closes connections that no request uses. */
  close(): void {
    if (this.#secured !== null) retire(this.#secured.agent);
  }

  #started<T>(
    credentials: Credentials,
    request: HttpRequest,
    read: (response: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const { method, path, headers, body, attempt, timeoutMs, signal } = request;
    const options: RequestOptions = {
      ...this.#target,
      method,
      path: this.#prefix + path,
      agent: this.#agentFor(credentials),
      headers: body === null ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) },
    };
    return new Promise<T>((resolve, reject) => {
      let isOver = false;
      const end = (settle: () => void): void => {
        if (isOver) return;
        isOver = true;
        cancelTimeout();
        signal?.removeEventListener('abort', abort);
        settle();
      };
      const fail = (error: unknown): void => {
        end(() => reject(error as Error));
        outgoing.destroy();
      };
      const abort = (): void => fail(signal!.reason);
      const outgoing = (this.#isHttps ? httpsRequest : httpRequest)(options, (response) => {
        read(response).then((value) => end(() => resolve(value)), fail);
      });
      // Failures after the end, such as a connection reset that follows an abort, have no reader.
      outgoing.on('error', (error) => {
        if (isOver) return;
        const failure = connectionError(attempt, error);
        end(() => reject(outgoing.reusedSocket ? new ReusedConnectionError(failure) : failure));
      });
      const cancelTimeout = this.#clock.after(timeoutMs, () => fail(timeoutError(attempt, timeoutMs)));
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted === true) abort();
      else outgoing.end(body ?? undefined);
    });
  }

  /** One agent for as long as authority and client certificate stay the same. */
  #agentFor({ certificate, key }: Credentials): HttpAgent {
    const ca = this.#connection.ca?.read() ?? null;
    const last = this.#secured;
    if (last !== null && last.ca === ca && last.certificate === certificate && last.key === key)
      return last.agent;
    if (last !== null && !isUsable(ca, certificate, key)) return last.agent;
    const keep = { keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: IDLE_CONNECTION_MS };
    const agent = this.#isHttps
      ? new HttpsAgent({
          ...keep,
          ...(ca === null ? {} : { ca }),
          ...(certificate === undefined ? {} : { cert: certificate }),
          ...(key === undefined ? {} : { key }),
          ...(this.#connection.serverName === null ? {} : { servername: this.#connection.serverName }),
          rejectUnauthorized: !this.#connection.skipTlsVerify,
        })
      : new HttpAgent(keep);
    this.#secured = { ca, certificate, key, agent };
    if (last !== null) retire(last.agent);
    return agent;
  }
}

/** A kept-alive connection broke without an answer: the API server may have closed it before the request arrived. */
export class ReusedConnectionError extends Error {
  override readonly name = 'ReusedConnectionError';
  readonly failure: Error;

  constructor(failure: Error) {
    super(failure.message, { cause: failure });
    this.failure = failure;
  }
}

/** Files that are being replaced may not belong together for a moment; the last good ones then stay in use. */
function isUsable(ca: string | null, certificate: string | undefined, key: string | undefined): boolean {
  try {
    createSecureContext({
      ...(ca === null ? {} : { ca }),
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
    });
    return true;
  } catch {
    return false;
  }
}

/** Requests in flight end normally; their connections are closed by their timeout. */
function retire(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}

function head(response: IncomingMessage): {
  readonly status: number;
  readonly retryAfter: string | undefined;
} {
  return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
}
