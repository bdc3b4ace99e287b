// A `KubeClient` that calls the fake Kubernetes API within the process: no sockets, so that whole operators run on a
// virtual clock. Errors and watches are those of api-server.ts. For tests of any part of the operator.
//
//   const api = new FakeApi({ clock });
//   const client = new MemoryClient(api);

import {
  type KubeClient,
  KubeError,
  type KubeList,
  type KubeObject,
  type PatchOptions,
  type PatchType,
  type Query,
  type RequestOptions,
  type WatchEvent,
} from '../../src/operator/kube/index.ts';
import { ApiError } from './api-errors.ts';
import type { FakeApi } from './fake-api.ts';
import type { User } from './rbac.ts';
import type { WatchSink } from './watches.ts';

const CONTENT: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
};

const ADMIN: User = { name: 'admin', groups: ['system:masters'] };

export class MemoryClient implements KubeClient {
  readonly #api: FakeApi;
  readonly #user: User;

  constructor(api: FakeApi, user: User = ADMIN) {
    this.#api = api;
    this.#user = user;
  }

  async get<T extends KubeObject>(path: string, options: RequestOptions = {}): Promise<T> {
    return (await this.#send('GET', path, options)) as T;
  }

  async list<T extends KubeObject>(path: string, options: RequestOptions = {}): Promise<KubeList<T>> {
    return (await this.#send('GET', path, options)) as KubeList<T>;
  }

  async create<T extends KubeObject>(
    path: string,
    object: unknown,
    options: RequestOptions = {},
  ): Promise<T> {
    return (await this.#send('POST', path, options, object)) as T;
  }

  async update<T extends KubeObject>(
    path: string,
    object: unknown,
    options: RequestOptions = {},
  ): Promise<T> {
    return (await this.#send('PUT', path, options, object)) as T;
  }

  async patch<T extends KubeObject>(
    path: string,
    type: PatchType,
    body: unknown,
    { fieldManager, force, query, ...rest }: PatchOptions = {},
  ): Promise<T> {
    const options = { ...rest, query: { ...query, fieldManager, force } };
    return (await this.#send('PATCH', path, options, body, CONTENT[type])) as T;
  }

  async delete(path: string, body?: unknown, options: RequestOptions = {}): Promise<void> {
    await this.#send('DELETE', path, options, body);
  }

  async *watch<T extends KubeObject>(
    path: string,
    query: Query,
    signal: AbortSignal,
    opened?: () => void,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    await Promise.resolve();
    signal.throwIfAborted();
    const lines: WatchEvent<T>[] = [];
    let state: 'open' | 'closed' | 'cut' = 'open';
    let wake = (): void => {};
    const sink: WatchSink = {
      line: (type, object) => {
        lines.push(copyOf({ type, object }) as WatchEvent<T>);
        wake();
      },
      cut: () => {
        state = 'cut';
        wake();
      },
      end: () => {
        state = 'closed';
        wake();
      },
    };
    const abort = (): void => wake();
    signal.addEventListener('abort', abort, { once: true });
    const close = this.#guard(() => {
      const parsed = this.#api.parse('GET', path + text({ ...query, watch: true }));
      this.#fault(parsed);
      return this.#api.watch(this.#user, parsed, sink);
    });
    try {
      opened?.();
      for (;;) {
        signal.throwIfAborted();
        const next = lines.shift();
        if (next !== undefined) yield next;
        else if (state === 'open')
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        else break;
      }
      // The assignment is in a callback, which the compiler does not see.
      if ((state as string) === 'cut')
        throw new KubeError(`watch of ${path}: the connection broke`, { status: 0, reason: 'ECONNRESET' });
    } finally {
      signal.removeEventListener('abort', abort);
      close();
    }
  }

  async #send(
    method: string,
    path: string,
    options: RequestOptions,
    body?: unknown,
    type?: string,
  ): Promise<unknown> {
    // As with a network, the answer comes later.
    await Promise.resolve();
    options.signal?.throwIfAborted();
    return this.#guard(() => {
      const parsed = this.#api.parse(method, path + text(options.query ?? {}));
      this.#fault(parsed);
      return copyOf(this.#api.request(this.#user, parsed, copyOf(body ?? null), type).body);
    });
  }

  /** Faults are errors here; 'hang' and 'reset' are a broken connection. */
  #fault(parsed: ReturnType<FakeApi['parse']>): void {
    const fault = this.#api.faults.take(parsed);
    if (fault === undefined) return;
    if (typeof fault === 'string')
      throw new KubeError(`${parsed.path}: the connection broke`, { status: 0, reason: 'ECONNRESET' });
    const retryAfterMs = fault.retryAfterSeconds === undefined ? null : fault.retryAfterSeconds * 1000;
    throw new KubeError(`${parsed.path}: ${fault.status} injected by the test`, {
      status: fault.status,
      retryAfterMs,
    });
  }

  #guard<R>(run: () => R): R {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, reason, message, causes, retryAfterSeconds } = error;
      throw new KubeError(`${code} ${reason}: ${message}`, {
        status: code,
        reason,
        causes,
        retryAfterMs: retryAfterSeconds === null ? null : retryAfterSeconds * 1000,
      });
    }
  }
}

/** As if sent: no reader may change the stored object. */
function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function text(query: Query): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value));
  return words.size === 0 ? '' : `?${words.toString()}`;
}
