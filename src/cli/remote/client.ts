// Calls the HTTP API of a running shard (docs/reference/api.md), for the commands of this folder and `bigfleet
// explain`. Errors are classified for the exit code: the shard is unreachable, the shard rejected the request, or the
// arguments were invalid.

import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { BigFleetError, printable } from '../../model/index.ts';
import { tlsAdvice } from '../../wire/grpc/tls-advice.ts';
import { isLoopback, type TlsFiles } from '../../wire/grpc/tls-files.ts';

/** A little longer than the shard's own limit for an answer. */
const ANSWER_MS = 35_000;

export type Query = Readonly<Record<string, string | undefined>>;

/** Who the caller is: a certificate, a token, or neither; `tls` with the authority alone only checks the shard. */
export interface Credentials {
  readonly tls: (Pick<TlsFiles, 'ca'> & Partial<TlsFiles>) | null;
  readonly tokenFile: string | null;
}

export class ShardClient {
  readonly #base: URL;
  readonly #tls: Credentials['tls'];
  readonly #tokenFile: string | null;
  readonly #answerMs: number;

  /** `answerMs`: longest time to wait for an answer. */
  constructor(shard: string, { tls, tokenFile }: Credentials, answerMs = ANSWER_MS) {
    this.#base = shardUrlOf(shard, tls === null ? 'http' : 'https');
    this.#tls = tls;
    this.#tokenFile = tokenFile;
    if (tokenFile !== null && this.#base.protocol === 'http:' && !isLoopback(this.#base.host))
      throw new BigFleetError(
        'BF_USAGE',
        'A token is sent over https only, so that it cannot be read on the way.',
      );
    this.#answerMs = answerMs;
  }

  /** The address of the shard, for people. */
  get url(): string {
    return this.#base.href.replace(/\/$/, '');
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#call<T>('GET', path, query);
  }

  /** Like `get`; null if the shard knows of nothing under this path. */
  async find<T>(path: string): Promise<T | null> {
    return await this.#call<T | null>('GET', path, {}, undefined, true);
  }

  post<T>(path: string, body: object): Promise<T> {
    return this.#call<T>('POST', path, {}, body);
  }

  delete<T>(path: string, query: Query): Promise<T> {
    return this.#call<T>('DELETE', path, query);
  }

  /** An answer that is read piece by piece. Asks again while the shard is busy with its copy of the fleet. */
  async open(path: string): Promise<AsyncIterable<Uint8Array>> {
    return await whileBusy(async () => {
      const response = await this.#respond('GET', this.#urlOf(path, {}), undefined);
      if (response.statusCode === 200) return response;
      const value = parsed(await text(response));
      if (value === undefined) throw this.#unreachable('what answers is not a shard');
      throw refusalOf(response.statusCode ?? 0, value);
    });
  }

  #urlOf(path: string, query: Query): URL {
    const url = new URL(this.#base.pathname.replace(/\/+$/, '') + path, this.#base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return url;
  }

  async #call<T>(
    method: string,
    path: string,
    query: Query,
    body?: object,
    isNullIfAbsent = false,
  ): Promise<T> {
    const response = await this.#respond(method, this.#urlOf(path, query), body);
    const status = response.statusCode ?? 0;
    const content = await this.#textOf(response);
    const value = parsed(content);
    if (value === undefined) throw this.#unreachable('what answers is not a shard');
    if (status === 200) return value as T;
    if (status === 404 && isNullIfAbsent) return null as T;
    throw refusalOf(status, value);
  }

  async #textOf(response: IncomingMessage): Promise<string> {
    try {
      return await text(response);
    } catch (cause) {
      throw this.#unreachable(whyOf(cause), cause);
    }
  }

  async #respond(method: string, url: URL, body: object | undefined): Promise<IncomingMessage> {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const headers = {
      connection: 'close',
      ...(this.#tokenFile === null ? {} : { authorization: `Bearer ${tokenIn(this.#tokenFile)}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const options = { method, headers, timeout: this.#answerMs, agent: false, ...pemOf(this.#tls) };
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        const request = send(url, options, resolve);
        request.on('timeout', () =>
          request.destroy(new Error(`no answer within ${this.#answerMs / 1000} s`)),
        );
        request.on('error', reject);
        request.end(body === undefined ? undefined : JSON.stringify(body));
      });
    } catch (cause) {
      const why = whyOf(cause);
      const advice = await tlsAdvice(why, {
        address: addressOf(url),
        hasFiles: this.#tls !== null,
        url: { flag: '--shard', isHttps: url.protocol === 'https:' },
      });
      if (advice === null) throw this.#unreachable(why, cause);
      // A shard listens there, so the remedy must not be to start one.
      const detail = `The shard at ${printable(this.#base.origin)} cannot be queried: ${printable(advice)}.`;
      throw new BigFleetError('BF_TLS_FAILED', detail, { cause });
    }
  }

  #unreachable(why: string, cause?: unknown): BigFleetError {
    const detail = `No shard at ${printable(this.#base.href.replace(/\/$/, ''))}: ${printable(why)}.`;
    return new BigFleetError('BF_SHARD_UNREACHABLE', detail, { cause });
  }
}

/** Longest wait for a shard that copies its fleet, and between two tries. */
const LONGEST_WAIT_MS = 120_000;
const RETRY_MS = 1000;

/** Repeats a question that the shard is too busy for. `wait` is for tests. */
export async function whileBusy<T>(
  ask: () => Promise<T>,
  wait: (ms: number) => Promise<unknown> = delay,
): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    try {
      return await ask();
    } catch (error) {
      const isBusy = error instanceof BigFleetError && error.code === 'BF_WHATIF_BUSY';
      if (!isBusy || waitedMs >= LONGEST_WAIT_MS) throw error;
      await wait(RETRY_MS);
    }
  }
}

/** Also accepts HOST:PORT without a scheme. */
export function shardUrlOf(shard: string, scheme: 'http' | 'https'): URL {
  const written = /^[a-z]+:\/\//i.test(shard) ? shard : `${scheme}://${shard}`;
  if (URL.canParse(written)) {
    const url = new URL(written);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  }
  throw new BigFleetError('BF_USAGE', `"${shard}" is not the URL of a shard, such as http://127.0.0.1:8780.`);
}

/** With the port that the scheme implies. */
function addressOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
}

function pemOf(tls: Credentials['tls']): Partial<Record<keyof TlsFiles, Buffer>> {
  if (tls === null) return {};
  try {
    const pair =
      tls.cert === undefined || tls.key === undefined
        ? {}
        : { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
    return { ...pair, ca: readFileSync(tls.ca) };
  } catch (cause) {
    throw new BigFleetError('BF_TLS_UNREADABLE', `${(cause as Error).message}.`, { cause });
  }
}

function tokenIn(path: string): string {
  try {
    const token = readFileSync(path, 'utf8').trim();
    if (/^[\x21-\x7e]+$/.test(token)) return token;
  } catch (cause) {
    throw new BigFleetError('BF_INPUT_UNREADABLE', `${(cause as Error).message}.`, { path, cause });
  }
  throw new BigFleetError('BF_INPUT_UNREADABLE', 'It is not a token, which is one line of printable ASCII.', {
    path,
  });
}

function whyOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // Node tries every address of a name, and the message is empty if all fail.
  return code === 'ECONNREFUSED' ? 'nothing listens there' : message || code || 'no connection';
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function refusalOf(status: number, value: unknown): BigFleetError {
  const { error } = value as { error?: { message?: unknown; code?: unknown } };
  const code = error?.code;
  const message = typeof error?.message === 'string' ? error.message : `It answered with status ${status}.`;
  if (status === 503 && code === 'busy') return new BigFleetError('BF_WHATIF_BUSY', message);
  return new BigFleetError(status === 400 ? 'BF_USAGE' : 'BF_SHARD_REFUSED', message);
}
