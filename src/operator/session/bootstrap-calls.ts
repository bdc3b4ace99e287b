// Answers bootstrap requests at the same time, up to a bound, apart from everything else that the operator does: a new
// machine must not wait for slow writes to the API server. Requests beyond the bound wait in order; the session stops
// reading from the shard while many wait. Used by shard-session.ts.

import type { BootstrapBlobResponse, BootstrapRequest } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

export interface BootstrapCallParts {
  readonly cluster: string;
  /** Requests that are answered at the same time. */
  readonly limit: number;
  /** Rejects if no answer is possible now; the shard asks again after its own timeout. */
  readonly answer: (request: BootstrapRequest) => Promise<BootstrapBlobResponse>;
  readonly answered: (response: BootstrapBlobResponse) => void;
  readonly failed: (request: BootstrapRequest, error: unknown) => void;
}

export class BootstrapCalls {
  readonly #parts: BootstrapCallParts;
  readonly #waiting: BootstrapRequest[] = [];
  /** Ids of requests that wait or are being answered. */
  readonly #open = new Set<string>();
  #running = 0;

  constructor(parts: BootstrapCallParts) {
    this.#parts = parts;
  }

  /** Requests that wait for one of the calls under way to end. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Number of requests that are being answered. */
  get running(): number {
    return this.#running;
  }

  /** Answers a request. A repetition of one that is open is ignored: its answer is on the way. */
  add(request: BootstrapRequest): void {
    if (this.#open.has(request.requestId)) return;
    this.#open.add(request.requestId);
    this.#waiting.push(request);
    this.#next();
  }

  #next(): void {
    while (this.#running < this.#parts.limit && this.#waiting.length > 0) {
      this.#running++;
      void this.#run(this.#waiting.shift()!);
    }
  }

  async #run(request: BootstrapRequest): Promise<void> {
    const { answered, failed } = this.#parts;
    try {
      answered(await this.#answer(request));
    } catch (error) {
      failed(request, error);
    } finally {
      this.#running--;
      this.#open.delete(request.requestId);
      this.#next();
    }
  }

  async #answer(request: BootstrapRequest): Promise<BootstrapBlobResponse> {
    const { cluster, answer } = this.#parts;
    const { requestId, clusterId } = request;
    // Shards of the reference leave the cluster out.
    if (clusterId === '' || clusterId === cluster) return await answer(request);
    const error = `This is cluster ${cluster}, not ${clusterId}.`;
    return { requestId, userData: Buffer.alloc(0), ttlSeconds: 0n, error };
  }
}
