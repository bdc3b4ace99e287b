// `KubeClient` over HTTP: authentication, limits, retries that the API server asks for, and clear errors. One client per
// API server and purpose; leader election uses one of its own, so that a renewal never waits behind other requests.
// docs/adr/0047-a-thin-kubernetes-client.md says why it is written here. Used by all of the operator.

import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import {
  type KubeClient,
  KubeError,
  type PatchOptions,
  type PatchType,
  type Query,
  type RequestOptions,
  type WatchEvent,
} from './client.ts';
import type { Credentials, KubeConnection } from './connection.ts';
import { type Attempt, answerError, connectionError, malformedError } from './failures.ts';
import type { KubeList, KubeObject } from './objects.ts';
import { Throttle } from './throttle.ts';
import { type HttpAnswer, type HttpRequest, ReusedConnectionError, Transport } from './transport.ts';
import { watchLines } from './watch-lines.ts';

export interface HttpClientLimits {
  /** Requests a second. Default 200: an operator of 5,000 nodes needs some ten in the long run. */
  readonly qps: number;
  readonly burst: number;
  readonly maxInFlight: number;
  readonly maxWaiting: number;
  /** Until the complete answer of a request, or the header of a watch. Default 30 s. */
  readonly requestMs: number;
  /** The same for lists. Default 60 s, which is the API server's own limit. */
  readonly listMs: number;
  /** Largest answer. Default 64 MiB: 500 pods have 2 MB, and one object has at most 1.5 MiB in etcd. */
  readonly maxResponseBytes: number;
  /** Longest line of a watch, that is, one object. Default 8 MiB. */
  readonly maxLineBytes: number;
  /** How often one request is repeated because the API server asked for it (429 or 503 with Retry-After). Default 4. */
  readonly maxRetries: number;
  /** Longest Retry-After that is waited for; with a longer one the request fails. Default 10 s. */
  readonly maxRetryAfterMs: number;
}

const DEFAULT_CLIENT_LIMITS: HttpClientLimits = {
  qps: 200,
  burst: 400,
  maxInFlight: 32,
  maxWaiting: 20_000,
  requestMs: 30_000,
  listMs: 60_000,
  maxResponseBytes: 64 * 1024 * 1024,
  maxLineBytes: 8 * 1024 * 1024,
  maxRetries: 4,
  maxRetryAfterMs: 10_000,
};

export interface HttpClientOptions {
  readonly connection: KubeConnection;
  /** Names this program in the log of the API server: 'bigfleet-operator/0.1.0'. */
  readonly userAgent: string;
  readonly limits?: Partial<HttpClientLimits>;
  readonly clock?: Clock;
}

/** Counts since the start, for metrics. */
export interface ClientCounters {
  readonly requests: number;
  /** Repeated because the API server asked to wait. */
  readonly throttled: number;
  /** Credentials read again after 401. */
  readonly renewals: number;
  readonly inFlight: number;
  readonly waiting: number;
}

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  // JSON is YAML, and API servers before 1.33 know this content type only.
  apply: 'application/apply-patch+yaml',
};

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: Query;
  readonly body: string | null;
  readonly contentType: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
}

export class HttpKubeClient implements KubeClient {
  readonly #connection: KubeConnection;
  readonly #limits: HttpClientLimits;
  readonly #clock: Clock;
  readonly #userAgent: string;
  readonly #throttle: Throttle;
  readonly #transport: Transport;
  #requests = 0;
  #throttled = 0;
  #renewals = 0;

  constructor({ connection, userAgent, limits = {}, clock = systemClock }: HttpClientOptions) {
    this.#connection = connection;
    this.#limits = { ...DEFAULT_CLIENT_LIMITS, ...limits };
    this.#clock = clock;
    this.#userAgent = userAgent;
    this.#throttle = new Throttle(clock, this.#limits);
    this.#transport = new Transport(connection, clock);
  }

  get counters(): ClientCounters {
    return {
      requests: this.#requests,
      throttled: this.#throttled,
      renewals: this.#renewals,
      inFlight: this.#throttle.inFlight,
      waiting: this.#throttle.waiting,
    };
  }

  /** Closes idle connections. Requests in flight end normally. */
  close(): void {
    this.#transport.close();
  }

  async get<T extends KubeObject>(path: string, options: RequestOptions = {}): Promise<T> {
    return await this.#json<T>(this.#call('GET', path, null, options));
  }

  async list<T extends KubeObject>(path: string, options: RequestOptions = {}): Promise<KubeList<T>> {
    const call = { ...this.#call('GET', path, null, options), timeoutMs: this.#limits.listMs };
    const list = await this.#json<KubeList<T>>(call);
    if (!Array.isArray(list.items) || typeof list.metadata?.resourceVersion !== 'string')
      throw malformedError(this.#attempt(call), 'expected a list, found', JSON.stringify(list));
    return list;
  }

  async create<T extends KubeObject>(
    path: string,
    object: unknown,
    options: RequestOptions = {},
  ): Promise<T> {
    return await this.#json<T>(this.#call('POST', path, object, options));
  }

  async update<T extends KubeObject>(
    path: string,
    object: unknown,
    options: RequestOptions = {},
  ): Promise<T> {
    return await this.#json<T>(this.#call('PUT', path, object, options));
  }

  async patch<T extends KubeObject>(
    path: string,
    type: PatchType,
    body: unknown,
    options: PatchOptions = {},
  ): Promise<T> {
    const { fieldManager, force, query, ...rest } = options;
    const call = this.#call('PATCH', path, body, { ...rest, query: { ...query, fieldManager, force } });
    return await this.#json<T>({ ...call, contentType: PATCH_TYPES[type] });
  }

  async delete(path: string, body?: unknown, options: RequestOptions = {}): Promise<void> {
    await this.#answer(this.#call('DELETE', path, body ?? null, options));
  }

  async *watch<T extends KubeObject>(
    path: string,
    query: Query,
    signal: AbortSignal,
    opened?: () => void,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const call = this.#call('GET', path, null, { query: { ...query, watch: true }, signal });
    const attempt = { ...this.#attempt(call), method: 'WATCH' };
    const stream = await this.#stream(call);
    const abort = (): void => void stream.destroy(new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      opened?.();
      for await (const line of watchLines(stream, this.#limits.maxLineBytes, attempt))
        yield parseEvent<T>(line, attempt);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof KubeError ? error : connectionError(attempt, error);
    } finally {
      signal.removeEventListener('abort', abort);
      stream.destroy();
    }
  }

  #call(method: string, path: string, body: unknown, options: RequestOptions): Call {
    const { query = {}, signal, maxRetries = this.#limits.maxRetries } = options;
    return {
      method,
      path,
      query,
      body: body === null ? null : JSON.stringify(body),
      contentType: 'application/json',
      timeoutMs: this.#limits.requestMs,
      maxRetries,
      signal,
    };
  }

  async #json<T>(call: Call): Promise<T> {
    const { body } = await this.#answer(call);
    try {
      const value = JSON.parse(body) as T;
      if (typeof value === 'object' && value !== null) return value;
    } catch {
      // Reported below.
    }
    throw malformedError(this.#attempt(call), 'the answer is not a JSON object', body);
  }

  async #answer(call: Call): Promise<HttpAnswer> {
    const { maxResponseBytes } = this.#limits;
    return await this.#attempts(call, (credentials, request) =>
      this.#transport.exchange(credentials, request, maxResponseBytes),
    );
  }

  /** A watch counts for the rate limit but not as in flight once it is open: it lasts for minutes. */
  async #stream(call: Call): Promise<IncomingMessage> {
    const { stream } = await this.#attempts(call, async (credentials, request) => {
      const answer = await this.#transport.open(credentials, request);
      if (answer.status < 400) return answer;
      const body = await textOf(answer.stream, this.#limits.maxResponseBytes);
      return { ...answer, body };
    });
    return stream;
  }

  /** Repeats a request only if the API server asks for it, if the credentials were renewed, or if it never arrived. */
  async #attempts<A extends HttpAnswer>(
    call: Call,
    send: (credentials: Credentials, request: HttpRequest) => Promise<A>,
  ): Promise<A> {
    const attempt = this.#attempt(call);
    let retries = 0;
    let isRenewed = false;
    let isReconnected = false;
    for (;;) {
      await this.#throttle.acquire(call.signal);
      this.#requests++;
      let answer: A;
      let credentials: Credentials = {};
      try {
        credentials = await this.#credentials(attempt);
        answer = await send(credentials, this.#request(call, attempt, credentials));
      } catch (error) {
        if (!(error instanceof ReusedConnectionError)) throw error;
        // A create that arrived before the connection broke would be done twice.
        if (isReconnected || call.method === 'POST') throw error.failure;
        isReconnected = true;
        continue;
      } finally {
        this.#throttle.release();
      }
      if (answer.status < 400) return answer;
      const error = answerError(attempt, answer.status, answer.body, answer.retryAfter);
      if (answer.status === 401 && !isRenewed && (await this.#renewed(credentials, attempt))) {
        isRenewed = true;
        continue;
      }
      const waitMs = this.#retryDelayMs(error);
      if (waitMs === null || retries++ >= call.maxRetries) throw error;
      this.#throttled++;
      await this.#sleep(waitMs, call.signal);
    }
  }

  /** A PodDisruptionBudget frees up when pods become ready, which the caller knows better than Retry-After. */
  #retryDelayMs({ status, retryAfterMs, isDisruptionBudget }: KubeError): number | null {
    if ((status !== 429 && status !== 503) || retryAfterMs === null || isDisruptionBudget) return null;
    return retryAfterMs <= this.#limits.maxRetryAfterMs ? retryAfterMs : null;
  }

  async #credentials(attempt: Attempt): Promise<Credentials> {
    try {
      return await this.#connection.credentials.current();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new KubeError(
        `${attempt.method} ${attempt.path} at ${attempt.server}: there are no credentials: ${why}`,
        { status: 0, reason: 'NoCredentials', cause },
      );
    }
  }

  /** Whether there are other credentials than those that were refused. */
  async #renewed(refused: Credentials, attempt: Attempt): Promise<boolean> {
    this.#connection.credentials.refused();
    const fresh = await this.#credentials(attempt);
    if (fresh.token === refused.token && fresh.certificate === refused.certificate) return false;
    this.#renewals++;
    return true;
  }

  #request(call: Call, attempt: Attempt, { token }: Credentials): HttpRequest {
    const { method, path, query, body, contentType, timeoutMs, signal } = call;
    const headers: Record<string, string> = { Accept: 'application/json', 'User-Agent': this.#userAgent };
    if (token !== undefined) headers['Authorization'] = `Bearer ${token}`;
    if (body !== null) headers['Content-Type'] = contentType;
    return { method, path: path + queryText(query), headers, body, attempt, timeoutMs, signal };
  }

  #attempt({ method, path }: Call): Attempt {
    const { server, credentials } = this.#connection;
    return { method, path, server, credentials: credentials.origin };
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        cancel();
        reject(signal!.reason as Error);
      };
      const cancel = this.#clock.after(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

function queryText(query: Query): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value));
  return words.size === 0 ? '' : `?${words.toString()}`;
}

const EVENT_TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

function parseEvent<T extends KubeObject>(line: string, attempt: Attempt): WatchEvent<T> {
  let event: Partial<WatchEvent<T>> | null = null;
  try {
    event = JSON.parse(line) as Partial<WatchEvent<T>> | null;
  } catch {
    // Reported below.
  }
  if (EVENT_TYPES.has(event?.type) && typeof event?.object === 'object' && event.object !== null)
    return event as WatchEvent<T>;
  throw malformedError(attempt, 'a line of the watch is not an event', line);
}

/** The body of an error answer, cut at the limit. */
async function textOf(stream: IncomingMessage, maxBytes: number): Promise<string> {
  let text = '';
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (text.length > maxBytes) break;
  }
  return text;
}
