// Messages between `ListThread` (list-thread.ts) and its worker (list-worker.ts). The bytes of batches are transferred,
// not copied.

import type { Traffic } from '../../runtime/message-exchange.ts';
import type { Attempt } from './attempts.ts';
import type { CallLimits } from './call-limits.ts';
import type { ProviderErrorKind } from './errors.ts';
import type { ProviderAddress } from './grpc-transport.ts';
import type { ListKind, ListReport } from './inventory-reader.ts';

export interface ListThreadStart {
  readonly provider: ProviderAddress;
  readonly limits: Partial<CallLimits>;
  readonly seed: number;
  readonly shardId: string;
}

export interface ToListThread extends Traffic {
  readonly item: { readonly kind: 'cancel' } | { readonly kind: 'forget' };
  /** Starts a reading, one at a time. */
  readonly request: ListKind;
  readonly answer:
    | { readonly kind: 'done'; readonly report: ListReport; readonly heldBytes: number }
    | { readonly kind: 'failed'; readonly error: ProviderErrorKind; readonly detail: string };
}

export type ListBatch =
  | { readonly kind: 'changed'; readonly bytes: Uint8Array<ArrayBuffer>; readonly count: number }
  | { readonly kind: 'gone'; readonly ids: readonly string[] };

/** A request passes one batch to the owner's sink, and is answered when the sink has processed it. */
export interface FromListThread extends Traffic {
  readonly item: { readonly kind: 'attempt'; readonly attempt: Attempt };
  readonly request: ListBatch;
  readonly answer: undefined;
}
