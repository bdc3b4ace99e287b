// Messages between past-cycles.ts on the main thread and the thread that decides a past cycle again (redecide-worker.ts).

import type { Traffic } from '../../runtime/message-exchange.ts';
import type { CycleAsk, CycleRedecisionView } from '../views.ts';

export interface RedecideStart {
  /** The file of the journal. */
  readonly journal: string;
  /** See pacing.ts. */
  readonly pacing: Int32Array;
  /** Longest time to read the journal. */
  readonly readLimitMs: number;
}

export type RedecideAsk = CycleAsk & { readonly limit: number };

export interface ToRedecide extends Traffic {
  readonly item: never;
  readonly request: RedecideAsk;
  readonly answer: CycleRedecisionView;
}

export interface FromRedecide extends Traffic {
  readonly item: never;
  readonly request: never;
}
