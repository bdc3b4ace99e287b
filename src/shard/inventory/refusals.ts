// Counts the records of a List that were refused, by the reason labels of the metrics. Used by reconcile.ts.

import type { ErrorCode } from '../../model/index.ts';
import type { ListReport } from '../../provider/index.ts';

export type RefusalReason = 'price' | 'interruption_probability' | 'structural';

const REASONS: ReadonlyMap<ErrorCode, RefusalReason> = new Map([
  ['BF_MACHINE_PRICE', 'price'],
  ['BF_MACHINE_PROBABILITY', 'interruption_probability'],
]);

/** A report has problems for its first refusals only; the rest count as structural. */
export function refusalsOf({ refused, problems }: ListReport): ReadonlyMap<RefusalReason, number> {
  const counts = new Map<RefusalReason, number>();
  if (refused === 0) return counts;
  const add = (reason: RefusalReason, count: number): void => {
    if (count > 0) counts.set(reason, (counts.get(reason) ?? 0) + count);
  };
  let counted = 0;
  for (const { code } of problems) {
    const reason = REASONS.get(code);
    if (reason === undefined || counted >= refused) continue;
    add(reason, 1);
    counted++;
  }
  add('structural', refused - counted);
  return counts;
}
