// What keeps machines from a Need, with a bound on the machines that are named.

import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, anInput, resources } from '../../../../testing/support/fleets.ts';
import { fleetOf } from '../../../fleet/index.ts';
import { keyOf, MachineState } from '../../../model/index.ts';
import { findingsOn } from './need-findings.ts';

const { Configured, Creating, Failed, Idle } = MachineState;

describe('what keeps machines from a Need', () => {
  const need = aNeed({ cluster: 'c1', aggregate: resources({ cpu: 400 }) });
  const names = Array.from({ length: 20 }, (_, i) => `m-${i}`);
  const find = (maxIds = Number.POSITIVE_INFINITY) => {
    const input = anInput(
      [
        ...names.map((id, i) => aMachine(id, Failed, { zone: i < 12 ? 'za' : 'zb' })),
        aMachine('q', Idle, { blocked: true }),
        aMachine('here', Configured, { cluster: 'c1' }),
        aMachine('coming', Creating, { cluster: 'c1', target: keyOf(need) }),
      ],
      [need],
    );
    const { nowMs: atMs, options } = input;
    return findingsOn(fleetOf(input), { atMs, options }, keyOf(need), { maxIds })!;
  };

  it('has the machines of which the controller knows more, without those that have arrived', () => {
    expect(find().ids).toEqual({ own: ['coming'], failed: names, blocked: ['q'] });
  });

  it('given more of them than ids, then it names some of all parts of the fleet, and counts all', () => {
    const { ids, explanation, failedByZone } = find(6);
    expect(ids.failed).toEqual(['m-0', 'm-4', 'm-8', 'm-12', 'm-16']);
    expect(explanation.obstacles.machines.failed).toBe(20);
    expect([...failedByZone]).toEqual([
      ['za', 12],
      ['zb', 8],
    ]);
  });
});
