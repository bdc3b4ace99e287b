// Ended rows, found from the targets of machines: must equal the result of a scan over all rows.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fleets } from '../../../testing/support/fleets.ts';
import { fleetOf } from '../../fleet/index.ts';
import { keyText } from '../../model/index.ts';
import { EndedRows } from './ended-rows.ts';

describe('ended rows', () => {
  it('given any fleet, then they are the targets of machines that are neither a row nor a fold', () => {
    let ended = 0;
    fc.assert(
      fc.property(fleets(), fc.array(fc.nat({ max: 20 })), (input, gone) => {
        const fleet = fleetOf(input);
        const rows = new EndedRows(fleet);
        const clusters = fleet.clusters.sorted().map((number) => fleet.clusters.nameOf(number));
        // Rows are replaced several times before `take`, so that key numbers and row slots are reused.
        const kept = input.needs.filter((_, i) => !gone.includes(i));
        for (const needs of [kept, input.needs, kept]) {
          for (const cluster of clusters)
            fleet.demand.replace(
              cluster,
              needs.filter((need) => need.cluster === cluster),
            );
        }
        const looked = clusters.filter((_, i) => !gone.includes(i + 10));
        for (const cluster of looked) rows.look(cluster);

        const live = new Set<number>();
        for (const cluster of fleet.clusters.sorted()) {
          const { offset, length } = fleet.demand.rowsOf(cluster);
          for (let row = offset; row < offset + length; row++) {
            live.add(fleet.demand.key[row]!);
            if (fleet.demand.same[row] === 1) live.add(fleet.demand.foldKey[row]!);
          }
        }
        const expected = [...fleet.machines.targetedKeys()]
          .filter((number) => !live.has(number))
          .map((number) => fleet.keys.keyOf(number))
          .filter(({ cluster }) => looked.includes(cluster));
        ended += expected.length;

        expect(rows.take().map(keyText)).toEqual(expected.map(keyText));
        expect(rows.take()).toEqual([]);
      }),
    );
    expect(ended).toBeGreaterThan(0);
  });
});
