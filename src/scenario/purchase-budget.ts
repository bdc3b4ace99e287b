// The ceiling on spending in a scenario: dollars per hour that may be spent beyond what is purchased already. Read by
// scenario.ts, written by scenario-write.ts.

import * as z from 'zod';
import { dollarsOfMicros, microsOf, type PurchaseBudget } from '../model/index.ts';
import { given, mapOf, numberIn } from '../runtime/validation.ts';

/** Such amounts are exact in whole micro-dollars. */
const MOST_DOLLARS = 1e9;
const DOLLARS = numberIn({ min: -MOST_DOLLARS, max: MOST_DOLLARS });

/** The field of `options`; absent: no limit. */
export const PURCHASE_BUDGET = given(
  z
    .strictObject({
      shard: given(DOLLARS, Number.POSITIVE_INFINITY),
      clusters: given(mapOf(DOLLARS), new Map<string, number>()),
    })
    .transform(
      ({ shard, clusters }): PurchaseBudget => ({
        shard: shard === Number.POSITIVE_INFINITY ? shard : microsOf(shard),
        clusters: new Map([...clusters].map(([name, dollars]) => [name, microsOf(dollars)])),
      }),
    ),
  null,
);

export function purchaseBudgetJson({ shard, clusters }: PurchaseBudget): Readonly<Record<string, unknown>> {
  const entries = [...clusters].map(([name, micros]) => [name, dollarsOfMicros(micros)] as const);
  return {
    ...(shard === Number.POSITIVE_INFINITY ? {} : { shard: dollarsOfMicros(shard) }),
    ...(entries.length === 0 ? {} : { clusters: Object.fromEntries(entries) }),
  };
}
