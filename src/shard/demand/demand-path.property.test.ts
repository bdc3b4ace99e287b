// The path of demand from the bytes of a roll-up to the ledger: wire, guard, first-seen times and the controller's thread.
// Whatever roll-ups a cluster sends, the ledger has the rows of the last accepted one.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wireNeed } from '../../../testing/support/sessions.ts';
import { Fleet } from '../../fleet/index.ts';
import { type Need, type ResourceVector, type RollupDelta, rowsAfter } from '../../model/index.ts';
import { type CapacityNeed, ClusterCapacityNeeds } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import { finished, RollupIntake, SharedParts } from '../../wire/index.ts';
import { DemandReceiver, DemandSender } from '../process/demand-codec.ts';
import { ClusterDemand } from './cluster-demand.ts';
import { extentOf } from './demand-guard.ts';

/** Amounts of a row: ordinary ones, none, one beyond the exact range, and one of a resource that no other row has. */
const amounts = fc.constantFrom<readonly (readonly [string, string])[]>(
  [['cpu', '1']],
  [['cpu', '2']],
  [
    ['cpu', '2'],
    ['memory', '1Gi'],
  ],
  [],
  [['cpu', '0']],
  [['cpu', '9007199254740']],
  [['example.com/gpu', '3']],
);
const row: fc.Arbitrary<CapacityNeed> = fc
  .record({
    priority: fc.nat(3),
    group: fc.constantFrom('', 'g', 'h'),
    amounts,
    // More terms than a row may have: it is set aside before it is decoded.
    isExcessive: fc.nat(7).map((n) => n === 0),
  })
  .map(({ priority, group, amounts: pairs, isExcessive }) => {
    const values = Array.from({ length: isExcessive ? 5000 : 1 }, (_, i) => `v${i}`);
    const requirements = isExcessive ? [{ key: 'k', operator: 1 as const, values }] : [];
    return wireNeed(priority, {
      group,
      aggregateResources: new Map(pairs),
      minUnit: new Map(),
      requirements,
    });
  });
/** Roll-ups of fresh rows, and of rows of the last one by index. Rows may have equal keys. */
const reports = fc.array(
  fc.array(fc.oneof(row, fc.nat(9)), { maxLength: 10 }).map((rows) => ({ rows })),
  { maxLength: 10 },
);

function bytesOf(needs: readonly CapacityNeed[], at: number): Uint8Array {
  const timestampUnixNanos = BigInt(at);
  return ClusterCapacityNeeds.encode({
    clusterId: 'c',
    timestampUnixNanos,
    needs: [...needs],
    nodeFacts: undefined,
  }).finish();
}

const withoutTime = (needs: readonly Need[]): Need[] => needs.map((need) => ({ ...need, firstSeenMs: 0 }));

/** The ledger does not keep amounts of 0: an absent resource is zero. */
const withoutZeros = (needs: readonly Need[]): Need[] =>
  needs.map((need) => ({ ...need, aggregate: positive(need.aggregate), minUnit: positive(need.minUnit) }));
const positive = (vector: ResourceVector): ResourceVector =>
  new Map([...vector].filter(([, units]) => units > 0));

/** A roll-up as read without a predecessor. */
function readFirst(bytes: Uint8Array) {
  const intake = new RollupIntake('c').read(bytes);
  if (intake.kind !== 'changed') throw new Error('the roll-up is refused');
  return { ...intake, extent: finished(extentOf(intake.needs, intake.hiddenRows)) };
}

describe('demand from the wire to the ledger', () => {
  it('given any roll-ups, then the ledger has the rows of the last one, and the guard has its extent as baseline', () => {
    fc.assert(
      fc.property(reports, (sequence) => {
        const demand = new ClusterDemand('c', new SharedParts());
        const [sender, receiver, fleet] = [new DemandSender(), new DemandReceiver(), new Fleet()];
        let last: readonly CapacityNeed[] = [];
        let received: readonly Need[] = [];
        for (const [step, { rows }] of sequence.entries()) {
          last = rows.flatMap((each) => (typeof each === 'number' ? (last[each] ?? []) : each));
          const bytes = bytesOf(last, step);
          const outcome = finished(demand.take(bytes, () => 1000 + step, {}));
          expect(outcome.kind).toMatch(/accepted|unchanged/);
          if (outcome.kind === 'accepted') {
            const delta: RollupDelta = receiver.unpack(structuredClone(sender.pack(outcome.delta)));
            fleet.demand.apply(delta);
            received = rowsAfter(received, delta);
            const { baseline } = outcome.changes;
            const { needs, extent } = readFirst(bytes);
            expect(withoutTime(received)).toEqual(needs);
            expect([baseline!.rows, baseline!.totals]).toEqual([extent.rows, extent.totals]);
          }
          const inLedger = fleet.demand.needsOf(fleet.clusters.find('c'));
          expect(withoutTime(inLedger)).toEqual(withoutZeros(readFirst(bytes).needs));
          expect(demand.whole()?.delta.fresh).toEqual(received);
        }
      }),
      { numRuns: 150 },
    );
  });
});
