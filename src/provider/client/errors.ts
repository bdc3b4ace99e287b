// Errors of the client's calls, as a small closed set of kinds. Callers such as shard/process/provider-calls.ts branch
// on `kind`; gRPC codes and texts are handled only here, because providers use them differently: the contract reserves
// FAILED_PRECONDITION for fencing and leaves the rest open.

import { status } from '@grpc/grpc-js';
import { BigFleetError, type ErrorCode, excerpt } from '../../model/index.ts';
import { statusOf, WireFormatError } from '../../wire/index.ts';

/** One of the six calls of the contract. */
export type CallName = 'create' | 'configure' | 'drain' | 'delete' | 'get' | 'list';

/**
 * Whether the same call may be made again. `any`: also one that changes something, with a fresh sequence number, since
 * transitions are idempotent by machine and kind. `reads`: the provider has answered, so a transition would only be
 * refused again, while a read may succeed. `never`: the answer would be the same, or must be respected.
 */
type Retry = 'any' | 'reads' | 'never';

interface KindEntry {
  readonly code: ErrorCode;
  readonly retry: Retry;
}

export const ERROR_KINDS = {
  fenced: { code: 'BF_CALL_FENCED', retry: 'never' },
  'not-found': { code: 'BF_CALL_NOT_FOUND', retry: 'never' },
  unimplemented: { code: 'BF_CALL_UNIMPLEMENTED', retry: 'never' },
  invalid: { code: 'BF_CALL_INVALID', retry: 'never' },
  position: { code: 'BF_CALL_POSITION', retry: 'never' },
  denied: { code: 'BF_CALL_DENIED', retry: 'never' },
  'too-large': { code: 'BF_CALL_TOO_LARGE', retry: 'never' },
  throttled: { code: 'BF_CALL_THROTTLED', retry: 'any' },
  unavailable: { code: 'BF_CALL_UNAVAILABLE', retry: 'any' },
  deadline: { code: 'BF_CALL_DEADLINE', retry: 'any' },
  cancelled: { code: 'BF_CALL_CANCELLED', retry: 'never' },
  malformed: { code: 'BF_CALL_MALFORMED', retry: 'reads' },
  internal: { code: 'BF_CALL_INTERNAL', retry: 'reads' },
} as const satisfies Record<string, KindEntry>;

/** The kinds of errors of calls; callers branch on them. */
export type ProviderErrorKind = keyof typeof ERROR_KINDS;

/** Longest excerpt of a provider's text in an error, in UTF-8 bytes; a hostile provider could fill logs. */
const MAX_DETAIL_BYTES = 500;

/** A failed call: the kind of error, and an excerpt of the provider's text. */
export class ProviderError extends BigFleetError {
  readonly kind: ProviderErrorKind;
  readonly call: CallName;
  /** Whether the call may be made again as a whole; see `Retry`. */
  readonly isRetrySafe: boolean;

  constructor(kind: ProviderErrorKind, call: CallName, detail: string, options: ErrorOptions = {}) {
    const shown = excerpt(detail, MAX_DETAIL_BYTES);
    super(ERROR_KINDS[kind].code, shown, { ...options, path: call });
    this.name = 'ProviderError';
    this.kind = kind;
    this.call = call;
    this.isRetrySafe = mayRetry(kind, call);
  }
}

function mayRetry(kind: ProviderErrorKind, call: CallName): boolean {
  const { retry } = ERROR_KINDS[kind];
  return retry === 'any' || (retry === 'reads' && (call === 'get' || call === 'list'));
}

/** Maps any error of a transport to a `ProviderError`. */
export function asProviderError(error: unknown, call: CallName): ProviderError {
  if (error instanceof ProviderError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ProviderError(kindOf(error, detail), call, detail, { cause: error });
}

const KIND_OF_STATUS: ReadonlyMap<status, ProviderErrorKind> = new Map([
  [status.FAILED_PRECONDITION, 'fenced'],
  [status.NOT_FOUND, 'not-found'],
  [status.UNIMPLEMENTED, 'unimplemented'],
  [status.INVALID_ARGUMENT, 'invalid'],
  [status.OUT_OF_RANGE, 'position'],
  [status.ABORTED, 'position'],
  [status.ALREADY_EXISTS, 'position'],
  [status.PERMISSION_DENIED, 'denied'],
  [status.UNAUTHENTICATED, 'denied'],
  [status.UNAVAILABLE, 'unavailable'],
  [status.DEADLINE_EXCEEDED, 'deadline'],
  // The client's own cancellations are not mapped here, so the other end reset the stream.
  [status.CANCELLED, 'unavailable'],
]);

function kindOf(error: unknown, detail: string): ProviderErrorKind {
  if (error instanceof WireFormatError) return 'malformed';
  const code = statusOf(error);
  if (code === undefined) return 'internal';
  if (code === status.RESOURCE_EXHAUSTED) return exhaustedKind(detail);
  const known = KIND_OF_STATUS.get(code);
  if (known !== undefined) return known;
  if (detail.includes('BF_MOVE_ILLEGAL')) return 'position';
  // grpc-js reports an answer that our own decoder refused as INTERNAL, with the text of the decoder.
  return /BF_WIRE_MALFORMED|parsing error/i.test(detail) ? 'malformed' : 'internal';
}

/** RESOURCE_EXHAUSTED has three meanings: too many calls, a message too large, or a limit of the provider's store. */
function exhaustedKind(detail: string): ProviderErrorKind {
  if (/BF_LIST_TOO_LARGE|larger than max|size larger than|message too large/i.test(detail))
    return 'too-large';
  return detail.includes('BF_PROVIDER_LIMIT') ? 'invalid' : 'throttled';
}
