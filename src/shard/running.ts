// A shard that runs, as whoever started it sees it.

import type { ApiOptions } from './api/serve.ts';
import type { ShardConfig } from './config/config.ts';
import type { ShardLog } from './logger.ts';
import type { ShardPort } from './views.ts';

export type EndReason =
  /** It was asked to. */
  | { readonly kind: 'stopped' }
  /** A newer process acts for this shard. */
  | { readonly kind: 'fenced'; readonly message: string }
  /** Its store or a thread of it failed. */
  | { readonly kind: 'failed'; readonly message: string };

export interface RunningShard {
  readonly port: ShardPort;
  readonly epoch: bigint;
  /** Where it listens, with the ports that were really taken. */
  readonly addresses: { readonly sessions: string; readonly api: string };
  /** Finishes what is under way or hands it back; resolves with `ended`. May be called twice. */
  stop(): Promise<void>;
  /** When nothing of it is left, for whatever reason; never rejects. */
  readonly ended: Promise<EndReason>;
}

export interface ShardIo {
  readonly log: ShardLog;
  /** Pages beside the API, if there are any. */
  readonly pages?: ApiOptions['pages'];
}

export type StartShard = (config: ShardConfig, io: ShardIo) => Promise<RunningShard>;
