// First-seen times compared with a model, over any sequence of reports, waits and restarts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deltaOf } from '../../../testing/support/rollup-deltas.ts';
import { keptRows, makeProfile, type Need, NO_BASE, rowsAfter } from '../../model/index.ts';
import { finished } from '../../wire/index.ts';
import { MemoryDemandStore } from '../storage/demand-store.ts';
import { FirstSeen, FORGET_AFTER_MS } from './first-seen.ts';

type Step =
  /** Rows by name, each with an amount. */
  | {
      readonly kind: 'report';
      readonly rows: ReadonlyMap<number, number>;
      /** Whether the wire recognized unchanged rows by their bytes; if not, every row is fresh. */
      readonly isCompared: boolean;
    }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'restart' };

const rows = fc
  .uniqueArray(fc.tuple(fc.nat(5), fc.nat(3)), { selector: ([name]) => name })
  .map((pairs) => new Map(pairs));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(rows, fc.boolean())
      .map(([rows, isCompared]): Step => ({ kind: 'report', rows, isCompared })),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(1, FORGET_AFTER_MS / 2, FORGET_AFTER_MS - 1, FORGET_AFTER_MS)
      .map((ms): Step => ({ kind: 'wait', ms })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
);

const parts = { requirements: [], spread: [], interruptionBucket: 0, reclamationBucket: 0 } as const;

/** Amount 0 is a row without amounts, amount 1 the same row set aside. */
function needOf(name: number, amount: number): Need {
  const profile = makeProfile({ ...parts, priority: name });
  const aggregate = new Map(amount < 2 ? [] : [['cpu', amount]]);
  const need = { cluster: 'c1', profile, group: '', aggregate, minUnit: new Map(), firstSeenMs: 0 };
  return amount === 1 ? { ...need, setAside: true } : need;
}

function amountOf({ aggregate, setAside }: Need): number {
  return setAside === true ? 1 : (aggregate.get('cpu') ?? 0);
}

async function restored(store: MemoryDemandStore): Promise<FirstSeen> {
  const firstSeen = new FirstSeen();
  for (const row of (await store.load()).seen) firstSeen.restore(row);
  return firstSeen;
}

describe('first-seen times', () => {
  it('given any sequence of events, then each row has the first-seen time of the model, and only changed rows are fresh', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = new MemoryDemandStore();
        let firstSeen = await restored(store);
        let nowMs = 1;
        let last: readonly Need[] = [];
        let accepted = { version: NO_BASE, needs: [] as readonly Need[] };
        const model = new Map<number, { readonly firstMs: number; readonly absentMs: number | null }>();
        for (const step of steps) {
          if (step.kind === 'wait') nowMs += step.ms;
          if (step.kind === 'restart') {
            firstSeen = await restored(store);
            last = [];
            accepted = { version: NO_BASE, needs: [] };
          }
          if (step.kind !== 'report') continue;
          for (const [name, { firstMs, absentMs }] of model) {
            if (absentMs !== null && nowMs - absentMs >= FORGET_AFTER_MS) model.delete(name);
            else if (absentMs === null && !step.rows.has(name)) model.set(name, { firstMs, absentMs: nowMs });
          }
          for (const name of step.rows.keys()) {
            model.set(name, { firstMs: model.get(name)?.firstMs ?? nowMs, absentMs: null });
          }
          const reported = [...step.rows].map(([name, cpu]) => needOf(name, cpu));
          const base = { version: accepted.version, rows: accepted.needs.length };
          const rolled = deltaOf('c1', step.isCompared ? accepted : { ...accepted, needs: [] }, reported);
          const report = { delta: rolled, kept: keptRows(rolled, base), needs: reported };
          const { delta, ...changes } = finished(firstSeen.report(report, nowMs));
          await store.write(changes);
          keptRows(delta, base);
          const needs = rowsAfter(last, delta);
          const times = [...step.rows].map(([name, cpu]) => ({
            ...needOf(name, cpu),
            firstSeenMs: model.get(name)!.firstMs,
          }));
          expect(needs).toEqual(times);
          expect(firstSeen.rows()).toEqual(times);
          const known = new Map(last.map((need) => [need.profile.priority, amountOf(need)]));
          const changed = [...step.rows].filter(([name, cpu]) => known.get(name) !== cpu);
          expect(delta.fresh.map(({ profile }) => profile.priority)).toEqual(changed.map(([name]) => name));
          last = needs;
          accepted = { version: delta.version, needs: reported };
        }
      }),
    );
  });
});
