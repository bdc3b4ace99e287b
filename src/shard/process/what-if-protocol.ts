// Messages between the main thread (what-if-service.ts) and the thread that answers what-if questions (what-if-worker.ts).

import type { Traffic } from '../../runtime/message-exchange.ts';
import type { WhatIfRequest } from '../../whatif/index.ts';
import type { ReplicaPart } from '../planning/replica-feed.ts';

export interface WhatIfThreadStart {
  /** See pacing.ts. */
  readonly pacing: Int32Array;
  /** Time after which a fleet that settles begins no cycle. */
  readonly settleMs: number;
}

export interface ToWhatIf extends Traffic {
  readonly item: { readonly kind: 'part'; readonly part: ReplicaPart };
  readonly request: /** Answered once all parts so far are applied, and the replica is ready for questions. */
    | { readonly kind: 'prepare' }
    | { readonly kind: 'ask'; readonly request: WhatIfRequest }
    /** `need`: its id. */
    | { readonly kind: 'explain'; readonly need: string }
    /** The next piece of the export; `isFirst` begins one. */
    | { readonly kind: 'export'; readonly isFirst: boolean };
  /** A WhatIfAnswer or null; NeedFindings or null; a piece as compressed bytes, or null after the last one. */
  readonly answer: unknown;
}

export interface FromWhatIf extends Traffic {
  readonly item: never;
  readonly request: never;
}
