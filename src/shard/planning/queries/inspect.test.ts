import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ControllerScene } from '../../../../testing/support/controller-scene.ts';
import { aMachine, aNeed, anInput, fleets, same } from '../../../../testing/support/fleets.ts';
import { aMetVerdict, anUnmetVerdict, NO_FITTING } from '../../../../testing/support/plans.ts';
import { decide } from '../../../engine/index.ts';
import { fleetOf } from '../../../fleet/index.ts';
import { compareText, keyOf, keyText, MachineState, type Need, type Verdict } from '../../../model/index.ts';
import { InspectNeedsResponse, type NeedView } from '../../../wire/gen/bigfleet/v1alpha1/shardread.ts';
import { type InspectedCycle, inspectNeeds } from './inspect.ts';

function aCycle(
  rows: readonly (readonly [Need, Verdict])[],
  given: Partial<InspectedCycle> = {},
): InspectedCycle {
  const needs = new Map(rows.map(([need]) => [keyText(keyOf(need)), need]));
  return {
    cycle: 4,
    computedAtMs: 1000,
    totalNeeds: rows.length,
    verdicts: rows.map(([, verdict]) => verdict),
    needOf: (key) => needs.get(keyText(key)),
    unmetCyclesOf: () => 0,
    offeredBy: () => undefined,
    ...given,
  };
}

function met(need: Need): readonly [Need, Verdict] {
  return [need, aMetVerdict(need)];
}

function headerOf(frames: readonly InspectNeedsResponse[]) {
  const { frame } = frames[0]!;
  return frame?.$case === 'header' ? frame.value : undefined;
}

function viewsOf(frames: Iterable<InspectNeedsResponse>): NeedView[] {
  return [...frames].flatMap(({ frame }) => (frame?.$case === 'need' ? [frame.value] : []));
}

describe('inspecting Needs', () => {
  it('given no cycle yet, then there is a header and nothing else', () => {
    const frames = [...inspectNeeds(aCycle([], { cycle: 0, computedAtMs: 0 }))];

    expect(frames).toHaveLength(1);
    expect(headerOf(frames)).toEqual({ cycle: 0n, computedAtUnixNanos: 0n, totalNeeds: 0 });
  });

  it('given a filter and a limit, then the header counts what passes the filter, and the limit cuts the rows', () => {
    const scene = new ControllerScene().list([]);
    scene.demand('a', aNeed({ cluster: 'a' }), aNeed({ cluster: 'a', priority: 2 })).demand('c1', aNeed());

    const frames = scene.tick().controller.ask('inspect', { cluster: 'a', limit: 1 });

    expect(headerOf(frames)).toMatchObject({ totalNeeds: 2 });
    expect(viewsOf(frames).map(({ need }) => need?.priority)).toEqual([2]);
  });

  it('given Needs, then the order is by priority, first-seen and name of the cluster', () => {
    const scene = new ControllerScene().list([]);
    scene.demand('b', aNeed({ cluster: 'b', firstSeenMs: 5, interruptionBucket: 9 }));
    scene.demand('a', aNeed({ cluster: 'a', firstSeenMs: 5 }));
    scene.demand('c', aNeed({ cluster: 'c', firstSeenMs: 4 }));
    scene.demand('d', aNeed({ cluster: 'd', firstSeenMs: 9, priority: 1 }));

    const views = viewsOf(scene.tick().controller.ask('inspect', { cluster: '', limit: 0 }));

    expect(views.map(({ clusterId }) => clusterId)).toEqual(['d', 'c', 'a', 'b']);
  });

  it('given a limit, then the first Needs are the same as without', () => {
    fc.assert(
      fc.property(fleets(), fc.integer({ min: 1, max: 12 }), ({ needs }, limit) => {
        const scene = new ControllerScene().list([]);
        for (const [cluster, rows] of Map.groupBy(needs, (need) => need.cluster))
          scene.demand(cluster, ...rows);
        scene.tick();
        const all = scene.controller.ask('inspect', { cluster: '', limit: 0 });

        const views = viewsOf(all);
        const inOrder = views.toSorted(
          (a, b) =>
            b.need!.priority - a.need!.priority ||
            Number(a.arrivalUnixNanos - b.arrivalUnixNanos) ||
            compareText(a.clusterId, b.clusterId),
        );
        expect(views).toEqual(inOrder);
        expect(views).toHaveLength(needs.length);
        expect(scene.controller.ask('inspect', { cluster: '', limit })).toEqual(all.slice(0, limit + 1));
        const listed = (most: number, after?: string) =>
          scene.controller.ask('needs', { onlyUnmet: false, limit: most, after });
        const ranked = listed(1000).items;
        const first = listed(limit);
        expect(first).toMatchObject({ items: ranked.slice(0, limit), total: needs.length });
        if (first.next !== null) expect(listed(1000, first.next).items).toEqual(ranked.slice(limit));
        else expect(ranked.length).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 30 },
    );
  });

  it('given a met Need, then it has its machines and no reason', () => {
    const need = aNeed({ firstSeenMs: 2 });
    const verdict = aMetVerdict(need, { claimed: ['a', 'b', 'c'], bootstraps: ['a'], provisions: ['b'] });

    const [view] = viewsOf(inspectNeeds(aCycle([[need, verdict]])));

    expect(view).toMatchObject({
      clusterId: 'c1',
      arrivalUnixNanos: 2_000_000n,
      profileFingerprint: need.profile.fingerprint,
      satisfied: true,
      claimedMachineCount: 3,
      bootstrapCount: 1,
      provisionCount: 1,
      unmetReason: 0,
      ageCyclesUnmet: 0,
      matchingSupply: undefined,
      preemption: undefined,
    });
  });

  it('given an unmet Need, then it has why, for how long, what is missing and the supply', () => {
    const need = aNeed();
    const matching = { idle: 3, speculative: 1000, configured: 256 };
    const verdict = anUnmetVerdict(need, 'preemption-exhausted', {
      preempts: ['v1', 'v2', 'gone'],
      unmet: {
        reason: 'preemption-exhausted',
        matching,
        fitting: NO_FITTING,
        blocker: null,
        extraSupply: null,
      },
    });
    const offers = new Map([
      ['v1', new Map([['cpu', 1000]])],
      ['v2', new Map([['cpu', 2000]])],
    ]);
    const cycle = aCycle([[need, verdict]], {
      unmetCyclesOf: () => 12,
      offeredBy: (machine) => offers.get(machine),
    });

    const [view] = viewsOf(inspectNeeds(cycle));

    expect(view).toMatchObject({
      satisfied: false,
      residualDeficit: { resources: new Map([['cpu', '4m']]) },
      ageCyclesUnmet: 12,
      unmetReason: 4,
      matchingSupply: { idle: 3, speculative: 256, configured: 256, capped: true },
      preemption: { victimsFound: 3, capacityFreed: { resources: new Map([['cpu', '3']]) } },
    });
  });

  it('given a count at the limit, then it is exact', () => {
    const need = aNeed();
    const matching = { idle: 256, speculative: 0, configured: 0 };
    const verdict = anUnmetVerdict(need, 'priority-starved', {
      unmet: { reason: 'priority-starved', matching, fitting: NO_FITTING, blocker: null, extraSupply: null },
    });

    const [view] = viewsOf(inspectNeeds(aCycle([[need, verdict]])));

    expect(view?.matchingSupply).toEqual({ ...matching, capped: false });
  });

  it('given a Need withdrawn since the cycle, then it is left out', () => {
    const cycle = aCycle([met(aNeed())], { needOf: () => undefined });

    expect(viewsOf(inspectNeeds(cycle))).toEqual([]);
  });

  it('given a gang of a real decision, then it has its domains, and every frame survives the wire', () => {
    const gang = aNeed({ requirements: [same('rack')], aggregate: new Map([['cpu', 12]]), group: 'g' });
    const inRack = { labels: new Map([['rack', 'r1']]) };
    const machines = ['a', 'b'].map((id) => aMachine(id, MachineState.Idle, inRack));
    const fleet = fleetOf(anInput(machines, [gang]));
    const { verdicts } = decide(fleet, 1, anInput([], []).options);
    const cycle = aCycle([], { verdicts, needOf: (key) => fleet.demand.needOf(key) });

    const frames = [...inspectNeeds(cycle)];

    expect(viewsOf(frames)).toMatchObject([
      {
        satisfied: false,
        unmetReason: 3,
        sameCandidates: [{ domain: 'r1', coveragePerMille: 666, satisfiable: false }],
      },
    ]);
    for (const frame of frames) {
      expect(InspectNeedsResponse.decode(InspectNeedsResponse.encode(frame).finish())).toEqual(frame);
    }
  });
});
