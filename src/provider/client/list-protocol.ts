// What the thread that reads Lists and its owner tell each other. Plain data; batches are moved, not copied.

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
  /** The oldest of what was handed over has been taken; `error` if it could not be. */
  | { readonly kind: 'taken'; readonly error?: string };

export type FromListThread =
  | { readonly kind: 'changed'; readonly bytes: Uint8Array<ArrayBuffer>; readonly count: number }
  | { readonly kind: 'gone'; readonly ids: readonly string[] }
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  | { readonly kind: 'done'; readonly report: ListReport; readonly heldBytes: number }
  | { readonly kind: 'failed'; readonly error: ProviderErrorKind; readonly detail: string };
