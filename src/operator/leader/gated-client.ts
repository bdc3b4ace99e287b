// A client whose writes are possible only while this replica leads. All parts of the operator write through it, so that
// the loss of the Lease stops every write at once, also those under way. Reads always pass: a standby keeps its
// reflectors up to date. Used by process/operator.ts.

import {
  type KubeClient,
  KubeError,
  type PatchOptions,
  type PatchType,
  type Query,
  type RequestOptions,
  type WatchEvent,
} from '../kube/client.ts';
import type { KubeList, KubeObject } from '../kube/objects.ts';

export class GatedKubeClient implements KubeClient {
  readonly #client: KubeClient;
  readonly #isOpen: () => boolean;
  #abort = new AbortController();

  /** `isOpen`: asked before every write. */
  constructor(client: KubeClient, isOpen: () => boolean) {
    this.#client = client;
    this.#isOpen = isOpen;
  }

  /** Ends all writes under way. Whether the API server has carried them out is then unknown. */
  close(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  get<T extends KubeObject>(path: string, options?: RequestOptions): Promise<T> {
    return this.#client.get(path, options);
  }

  list<T extends KubeObject>(path: string, options?: RequestOptions): Promise<KubeList<T>> {
    return this.#client.list(path, options);
  }

  watch<T extends KubeObject>(path: string, query: Query, signal: AbortSignal): AsyncIterable<WatchEvent<T>> {
    return this.#client.watch(path, query, signal);
  }

  async create<T extends KubeObject>(path: string, object: unknown, options?: RequestOptions): Promise<T> {
    return await this.#client.create(path, object, this.#guarded(options));
  }

  async update<T extends KubeObject>(path: string, object: unknown, options?: RequestOptions): Promise<T> {
    return await this.#client.update(path, object, this.#guarded(options));
  }

  async patch<T extends KubeObject>(
    path: string,
    type: PatchType,
    body: unknown,
    options?: PatchOptions,
  ): Promise<T> {
    return await this.#client.patch(path, type, body, this.#guarded(options));
  }

  async delete(path: string, body?: unknown, options?: RequestOptions): Promise<void> {
    await this.#client.delete(path, body, this.#guarded(options));
  }

  #guarded<O extends RequestOptions>(options: O | undefined): O & { readonly signal: AbortSignal } {
    if (!this.#isOpen()) throw new KubeError('This replica of the operator does not lead.', { status: 0 });
    const { signal } = this.#abort;
    const both = options?.signal === undefined ? signal : AbortSignal.any([options.signal, signal]);
    return { ...(options as O), signal: both };
  }
}
