// Messages between `ListThread` and its worker. Plain data; the bytes of batches are transferred, not copied.

import type { Attempt } from './attempts.ts';
import type { CallLimits } from './call-limits.ts';
import type { ProviderErrorKind } from './errors.ts';
import type { ProviderAddress } from './grpc-transport.ts';
import type { ListKind, ListReport } from './reader.ts';

export interface ListThreadStart {
  readonly provider: ProviderAddress;
  readonly limits: Partial<CallLimits>;
  readonly seed: number;
  readonly shardId: string;
}

export type ToListThread =
  | { readonly kind: 'read'; readonly wanted: ListKind }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'forget' }
  /** Acknowledges the oldest batch in flight; `error` if the sink rejected it. */
  | { readonly kind: 'taken'; readonly error?: string };

export type FromListThread =
  | { readonly kind: 'changed'; readonly bytes: Uint8Array<ArrayBuffer>; readonly count: number }
  | { readonly kind: 'gone'; readonly ids: readonly string[] }
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  | { readonly kind: 'done'; readonly report: ListReport; readonly heldBytes: number }
  | { readonly kind: 'failed'; readonly error: ProviderErrorKind; readonly detail: string };
