// Requests to the API of the shard. A refusal becomes an error with the message of the shard; where the login has ended,
// the page is loaded again, because the shard then answers with the login page.

interface ErrorBody {
  readonly error?: { readonly code?: string; readonly message: string };
}

/** The shard answered, and refused. */
class Refused extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** Whether the shard has to be asked again: it copies its fleet, or answers another question. */
export function isBusy(error: unknown): boolean {
  return error instanceof Refused && error.code === 'busy';
}

export function read<T>(path: string): Promise<T> {
  return call(path);
}

export function post<T>(path: string, body: object): Promise<T> {
  return call(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
}

export function remove<T>(path: string): Promise<T> {
  return call(path, { method: 'DELETE' });
}

async function call<T>(path: string, request?: RequestInit): Promise<T> {
  const response = await fetch(path, request);
  if (response.ok) return (await response.json()) as T;
  const { error } = (await response.json().catch(() => ({}))) as ErrorBody;
  if (response.status === 401) location.reload();
  throw new Refused(error?.message ?? `The shard answered with ${response.status}.`, error?.code ?? '');
}

/** Waits between two tries double from the first to the longest of these. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 4_000;
/** A shard that is busy for longer than this in sum is not asked again. */
const PATIENCE_MS = 120_000;

interface Waiting {
  /** Called with the reason before each wait. */
  readonly onBusy: (why: string) => void;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** Asks again while the shard is busy, such as with its copy of a large fleet before the first what-if question. */
export async function postWhileBusy<T>(path: string, body: object, { onBusy, signal }: Waiting): Promise<T> {
  let waitMs = FIRST_WAIT_MS;
  for (let waitedMs = 0; ; waitedMs += waitMs, waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await post<T>(path, body);
    } catch (error) {
      if (!isBusy(error) || waitedMs >= PATIENCE_MS || signal.aborted) throw error;
      onBusy((error as Error).message);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (signal.aborted) throw error;
    }
  }
}
