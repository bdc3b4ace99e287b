// The handle on a running shard that `startShard` returns to `bigfleet shard` and `bigfleet up`.

import type { Log as ShardLog } from '../../runtime/logger.ts';
import type { ApiOptions } from '../api/serve.ts';
import type { ShardConfig } from '../config/config.ts';
import type { ShardPort } from '../views.ts';

export type EndReason =
  /** `stop` was called. */
  | { readonly kind: 'stopped' }
  /** A newer process acts for this shard. */
  | { readonly kind: 'fenced'; readonly message: string }
  /** Its store or one of its threads failed. */
  | { readonly kind: 'failed'; readonly message: string };

export interface RunningShard {
  readonly port: ShardPort;
  readonly epoch: bigint;
  /** Listening addresses with the ports actually bound. */
  readonly addresses: { readonly sessions: string; readonly api: string };
  /** Finishes or hands back in-flight work; resolves with `ended`. Idempotent. */
  stop(): Promise<void>;
  /** Resolves with the reason when the shard has ended completely; never rejects. */
  readonly ended: Promise<EndReason>;
}

export interface ShardIo {
  readonly log: ShardLog;
  /** Pages that are served beside the API. */
  readonly pages?: ApiOptions['pages'];
  /** Pages with which a browser logs in. */
  readonly loginPages?: ApiOptions['loginPages'];
}

export type StartShard = (config: ShardConfig, io: ShardIo) => Promise<RunningShard>;
