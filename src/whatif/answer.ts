// The answer to a question: the fleet as it is decided now, as it would be, and the difference. Types only.

import type { Action, ActionKind, CostView, UnmetReason } from '../model/index.ts';
import type { Touched } from './change-fleet.ts';

/** A Need by its short name. */
export interface NeedName {
  readonly id: string;
  readonly cluster: string;
  readonly group: string;
  readonly priority: number;
}

/** At most `limit` items of `total`. */
export interface Listed<T> {
  readonly total: number;
  readonly items: readonly T[];
}

export type ActionCounts = Readonly<Record<ActionKind, number>>;

export type WhatIfAction = Pick<Action, 'kind' | 'machine' | 'cluster' | 'reason'> & {
  readonly need: NeedName | null;
};

/** Dollars per hour, each a whole number of micro-dollars. */
export interface WhatIfCost extends CostView {
  /** `perHour`, plus what the actions buy, minus what they release. */
  readonly afterActions: number;
  /** Expected loss by interruptions of claimed machines. */
  readonly risk: number;
}

export interface NeedCounts {
  readonly met: number;
  readonly unmet: number;
}

export interface WhatIfVerdict {
  readonly need: NeedName;
  /** null: it would be met. */
  readonly reason: UnmetReason | null;
  readonly why: string | null;
  readonly missing: Readonly<Record<string, string>>;
  /** null: it is met now. */
  readonly reasonNow: UnmetReason | null;
  readonly whyNow: string | null;
}

/** Machines in use that one decision takes away, or that the changes do. Their pods are not known. */
export interface Disruption {
  readonly preempted: number;
  readonly drained: number;
  /** Bound machines that are gone. */
  readonly lost: number;
}

/** The fleet after cycles in which moves take no time. Differences are to now. */
export interface Settled {
  readonly cycles: number;
  /** Whether the last cycle had nothing to do and no machine waited for the end of a hold. */
  readonly isQuiet: boolean;
  /** Why there were fewer cycles than asked for; null: nothing ended them early. */
  readonly remark: string | null;
  readonly simulatedSeconds: number;
  readonly bought: number;
  readonly bound: number;
  readonly preempted: number;
  readonly drained: number;
  readonly released: number;
  readonly cost: WhatIfCost;
  readonly costDifference: WhatIfCost;
  readonly needs: NeedCounts;
  readonly unmet: Listed<WhatIfVerdict>;
  readonly met: Listed<WhatIfVerdict>;
}

export interface WhatIfAnswer {
  readonly atMs: number;
  readonly touched: Touched;
  /** Paths of changes that match nothing. */
  readonly unmatched: readonly string[];
  readonly actions: {
    readonly now: ActionCounts;
    readonly after: ActionCounts;
    readonly added: Listed<WhatIfAction>;
    readonly dropped: Listed<WhatIfAction>;
  };
  readonly cost: { readonly now: WhatIfCost; readonly after: WhatIfCost; readonly difference: WhatIfCost };
  readonly verdicts: {
    readonly now: NeedCounts;
    readonly after: NeedCounts;
    /** Met now. */
    readonly unmet: Listed<WhatIfVerdict>;
    /** Unmet now. */
    readonly met: Listed<WhatIfVerdict>;
    /** Unmet now and after the changes, for another reason. */
    readonly changed: Listed<WhatIfVerdict>;
  };
  readonly disruption: { readonly now: Disruption; readonly after: Disruption };
  /** null: not asked for. */
  readonly settled: Settled | null;
}
