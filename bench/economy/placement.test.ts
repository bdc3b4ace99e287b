import { describe, expect, it } from 'vitest';
import { catalogueOf, offering, podGroup } from '../../testing/support/economy.ts';
import { amountsOf } from './amounts.ts';
import { Placement } from './placement.ts';
import { Eligibility } from './scenario.ts';

const catalogue = catalogueOf(
  offering(4, 16, 1),
  offering(8, 32, 2),
  offering(4, 64, 1),
  offering(4, 16, 1, { zone: 'b' }),
);
const { profile: plain } = podGroup([]);
const { profile: urgent } = podGroup([], '', 100);
const { profile: inB } = podGroup([], 'b');

function placementWith(...nodes: readonly (readonly [string, number])[]): Placement {
  const placement = new Placement(new Eligibility(catalogue));
  for (const [id, index] of nodes) placement.addNode(id, catalogue[index]!);
  return placement;
}

describe('the scheduler model', () => {
  it('given two feasible nodes, then a pod goes to the one with more left', () => {
    const placement = placementWith(['small', 0], ['large', 1]);
    placement.addPod(plain, amountsOf(2, 8, 0), 0);
    placement.schedule();
    expect([placement.podsOn('small'), placement.podsOn('large')]).toEqual([0, 1]);
  });

  it('given equal rooms but another shape, then the balanced node wins', () => {
    const placement = placementWith(['memory', 2], ['balanced', 0]);
    placement.addPod(plain, amountsOf(2, 8, 0), 0);
    placement.schedule();
    // Least allocated: (50 + 87) ÷ 2 = 68 and 50. Balanced: 81 and 100.
    expect([placement.podsOn('memory'), placement.podsOn('balanced')]).toEqual([0, 1]);
  });

  it('given requirements, then a node that does not meet them is not used', () => {
    const placement = placementWith(['a', 1]);
    placement.addPod(inB, amountsOf(1, 1, 0), 0);
    placement.schedule();
    expect(placement.pending.size).toBe(1);
    placement.addNode('b', catalogue[3]!);
    placement.schedule();
    expect([placement.pending.size, placement.podsOn('b')]).toEqual([0, 1]);
  });

  it('given too little room, then the higher priority is placed and the other pod is pending', () => {
    const placement = placementWith(['a', 0]);
    const low = placement.addPod(plain, amountsOf(3, 1, 0), 0);
    placement.addPod(urgent, amountsOf(3, 1, 0), 0);
    placement.schedule();
    expect([...placement.pending]).toEqual([low]);
  });

  it('given a large pod that does not fit, then smaller ones of its profile still do', () => {
    const placement = placementWith(['a', 0]);
    const large = placement.addPod(plain, amountsOf(5, 1, 0), 0);
    placement.addPod(plain, amountsOf(4, 1, 0), 0);
    placement.schedule();
    expect([...placement.pending]).toEqual([large]);
  });

  it('given a node that drains, then its pods are pending since then and placed again elsewhere', () => {
    const placement = placementWith(['a', 0]);
    const pod = placement.addPod(plain, amountsOf(2, 2, 0), 0);
    placement.schedule();
    expect(placement.removeNode('a', 5000)).toBe(1);
    expect([placement.pending.has(pod), pod.pendingSinceMs]).toEqual([true, 5000]);
    placement.addNode('b', catalogue[0]!);
    placement.schedule();
    expect(placement.podsOn('b')).toBe(1);
  });

  it('given a pod that leaves, then its room is free again', () => {
    const placement = placementWith(['a', 0]);
    const first = placement.addPod(plain, amountsOf(4, 1, 0), 0);
    placement.schedule();
    const second = placement.addPod(plain, amountsOf(4, 1, 0), 0);
    placement.schedule();
    expect(placement.pending.has(second)).toBe(true);
    placement.removePod(first);
    placement.schedule();
    expect(placement.pending.size).toBe(0);
  });
});
