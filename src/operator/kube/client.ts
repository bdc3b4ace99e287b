// Access to one API server: single requests and watches. `KubeClient` is what the rest of the operator uses; the
// implementation over node:https is in http-client.ts, and tests run the same code against testing/kube.

import type { KubeList, KubeObject, KubeStatus } from './objects.ts';

/** Content types of a patch. */
export type PatchType = 'merge' | 'json' | 'apply';

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly query?: Query;
  readonly signal?: AbortSignal;
  /** How often the request is repeated if the API server asks to wait; default: the limit of the client. */
  readonly maxRetries?: number;
}

export interface PatchOptions extends RequestOptions {
  /** Required by `apply`. */
  readonly fieldManager?: string;
  readonly force?: boolean;
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject }
  | { readonly type: 'ERROR'; readonly object: KubeStatus };

/**
 * All methods reject with a `KubeError`, or with the reason of an aborted signal; they retry only what the API server
 * asks to retry (429 or 503 with Retry-After). Paths have no query; names in them must be percent-encoded by `pathOf`
 * (paths.ts) unless they are plain.
 */
export interface KubeClient {
  get<T extends KubeObject>(path: string, options?: RequestOptions): Promise<T>;
  list<T extends KubeObject>(path: string, options?: RequestOptions): Promise<KubeList<T>>;
  create<T extends KubeObject>(path: string, object: unknown, options?: RequestOptions): Promise<T>;
  update<T extends KubeObject>(path: string, object: unknown, options?: RequestOptions): Promise<T>;
  patch<T extends KubeObject>(
    path: string,
    type: PatchType,
    body: unknown,
    options?: PatchOptions,
  ): Promise<T>;
  delete(path: string, body?: unknown, options?: RequestOptions): Promise<void>;
  /**
   * Ends normally when the server closes the watch, which it may do at any time. `opened` is called when the server has
   * accepted the watch: on a quiet resource the first event may come minutes later.
   */
  watch<T extends KubeObject>(
    path: string,
    query: Query,
    signal: AbortSignal,
    opened?: () => void,
  ): AsyncIterable<WatchEvent<T>>;
}

/** Why a request to the API server failed. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** Reason of the `Status`, such as 'AlreadyExists'; '' without one. */
  readonly reason: string;
  readonly causes: readonly { readonly reason?: string; readonly message?: string }[];
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    facts: {
      readonly status: number;
      readonly reason?: string;
      readonly causes?: KubeError['causes'];
      readonly retryAfterMs?: number | null;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: facts.cause });
    this.status = facts.status;
    this.reason = facts.reason ?? '';
    this.causes = facts.causes ?? [];
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }

  get isNotFound(): boolean {
    return this.status === 404;
  }

  get isConflict(): boolean {
    return this.status === 409;
  }

  /** The resource version of a list or watch is too old. */
  get isGone(): boolean {
    return this.status === 410;
  }

  /** An eviction that a PodDisruptionBudget does not allow now. */
  get isDisruptionBudget(): boolean {
    return this.status === 429 && this.causes.some((cause) => cause.reason === 'DisruptionBudget');
  }
}
