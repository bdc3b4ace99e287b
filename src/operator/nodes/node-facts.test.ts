import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { NodeFacts_Protected_Reason } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import type { NodeUse } from '../demand/contract.ts';
import { MACHINE_LABEL } from './contract.ts';
import { NodeFactTracker } from './node-facts.ts';
import { DRAIN_FAILED_ANNOTATION, NodeTable } from './node-table.ts';

const { REASON_ANNOTATION, REASON_DRAIN_FAILED, REASON_PDB } = NodeFacts_Protected_Reason;
const EMPTY: NodeUse = { pods: 0, doNotDisrupt: 0, withoutBudget: 0 };
const BUSY: NodeUse = { pods: 3, doNotDisrupt: 0, withoutBudget: 0 };

function scene(names: readonly string[] = ['b', 'a']) {
  const clock = new VirtualClock(1_000_000);
  const nodes = new NodeTable();
  const use = new Map<string, NodeUse>();
  const failedUntil = new Map<string, number>();
  const add = (name: string, annotations: Record<string, string> = {}) =>
    nodes.set({ metadata: { name, labels: { [MACHINE_LABEL]: `m-${name}` }, annotations } });
  for (const name of names) add(name);
  const tracker = new NodeFactTracker({
    clock,
    nodes,
    pods: { useOf: (name) => use.get(name) ?? null, takeChangedUse: () => use.keys() },
    drainFailedUntilMs: ({ name }) => failedUntil.get(name) ?? 0,
  });
  /** Refreshes every 10 s, as the roll-up does. */
  const passed = async (ms: number) => {
    for (let at = 0; at < ms; at += 10_000) {
      await clock.advance(10_000);
      tracker.refresh();
    }
    return tracker.refresh();
  };
  return { clock, nodes, use, failedUntil, tracker, passed, add };
}

describe('facts about nodes', () => {
  it('given nodes with and without pods, then empty ones count as empty after two minutes, sorted by machine', async () => {
    const { use, tracker, passed } = scene(['c', 'b', 'a']);
    use.set('a', EMPTY).set('b', BUSY).set('c', EMPTY);
    expect(tracker.refresh()).toEqual({ empty: [], inUse: ['m-b'], protected: [] });
    expect((await passed(110_000)).empty).toEqual([]);
    expect(await passed(10_000)).toEqual({ empty: ['m-a', 'm-c'], inUse: ['m-b'], protected: [] });
    use.set('a', BUSY);
    expect(tracker.refresh()).toEqual({ empty: ['m-c'], inUse: ['m-a', 'm-b'], protected: [] });
    expect(tracker.emptySinceMs('m-a')).toBeNull();
  });

  it('given a node between two pods for a minute, then it stays in use', async () => {
    const { use, tracker, passed } = scene(['a']);
    use.set('a', BUSY);
    const facts = tracker.refresh();
    use.set('a', EMPTY);
    await passed(60_000);
    use.set('a', BUSY);
    // The same object: nothing to compare or encode again.
    expect(await passed(300_000)).toBe(facts);
  });

  it('given a budget without room during a rolling update, then nothing changes; given one for a minute, then protected for five more', async () => {
    const { use, tracker, passed } = scene(['a']);
    use.set('a', BUSY);
    const facts = tracker.refresh();
    use.set('a', { ...BUSY, withoutBudget: 1 });
    await passed(40_000);
    use.set('a', BUSY);
    expect(await passed(10_000)).toBe(facts);
    use.set('a', { ...BUSY, withoutBudget: 1 });
    expect((await passed(70_000)).protected).toEqual([{ machineId: 'm-a', reason: REASON_PDB }]);
    use.set('a', BUSY);
    expect((await passed(280_000)).protected).toHaveLength(1);
    expect(await passed(20_000)).toEqual(facts);
  });

  it('given nodes whose budgets have no room when the process starts, then they are protected at once, and later ones after a minute', async () => {
    const { use, tracker, passed, add } = scene(['a', 'b']);
    use.set('a', { ...BUSY, withoutBudget: 1 }).set('b', BUSY);
    const found = { machineId: 'm-a', reason: REASON_PDB };
    expect(tracker.refresh()).toEqual({ empty: [], inUse: ['m-b'], protected: [found] });
    use.set('b', { ...BUSY, withoutBudget: 1 }).set('c', { ...BUSY, withoutBudget: 1 });
    add('c');
    expect((await passed(50_000)).protected).toEqual([found]);
    expect(tracker.current.inUse).toEqual(['m-b', 'm-c']);
    expect((await passed(20_000)).protected).toHaveLength(3);
  });

  it('given annotations on pod or node, or a failed drain, then the node is protected at once', () => {
    const { use, tracker, failedUntil, clock, add } = scene(['a', 'b', 'c', 'd']);
    for (const name of ['a', 'b', 'c', 'd']) use.set(name, BUSY);
    use.set('a', { ...BUSY, doNotDisrupt: 1 });
    add('b', { 'karpenter.sh/do-not-disrupt': 'true' });
    failedUntil.set('c', clock.now() + 1);
    expect(tracker.refresh()).toEqual({
      empty: [],
      inUse: ['m-d'],
      protected: [
        { machineId: 'm-a', reason: REASON_ANNOTATION },
        { machineId: 'm-b', reason: REASON_ANNOTATION },
        { machineId: 'm-c', reason: REASON_DRAIN_FAILED },
      ],
    });
  });

  it('given a node whose use is not known, or that is gone, then it is not listed', () => {
    const { use, tracker, nodes } = scene(['a', 'b']);
    use.set('a', BUSY);
    expect(tracker.refresh().inUse).toEqual(['m-a']);
    nodes.remove({ metadata: { name: 'a' } });
    expect(tracker.refresh()).toEqual({ empty: [], inUse: [], protected: [] });
  });

  it('given nodes of which one changes its pods, then only that one is read again', () => {
    const { nodes, use, clock } = scene(['a', 'b', 'c']);
    for (const name of ['a', 'b', 'c']) use.set(name, BUSY);
    const read: string[] = [];
    let changed = ['a', 'b', 'c'];
    const pods = {
      useOf: (name: string) => {
        read.push(name);
        return use.get(name) ?? null;
      },
      takeChangedUse: () => changed.splice(0),
    };
    const tracker = new NodeFactTracker({ clock, nodes, pods, drainFailedUntilMs: () => 0 });
    expect(tracker.refresh().inUse).toEqual(['m-a', 'm-b', 'm-c']);
    read.length = 0;
    use.set('b', { ...BUSY, doNotDisrupt: 1 });
    changed = ['b'];
    expect(tracker.refresh().inUse).toEqual(['m-a', 'm-c']);
    expect(read).toEqual(['b']);
  });

  it('given any course of pods, nodes, drains and time, then the facts are those of a tracker that reads every node', async () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      pods: fc.nat(1),
      doNotDisrupt: fc.nat(1),
      withoutBudget: fc.nat(1),
      node: fc.constantFrom('same', 'same', 'same', 'gone', 'other machine'),
      isDrainFailed: fc.boolean(),
      seconds: fc.constantFrom(1, 10, 61, 121, 301),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const clock = new VirtualClock(1_000_000);
        const nodes = new NodeTable();
        const use = new Map<string, NodeUse>();
        const changed = new Set<string>();
        const failedUntilMs = new Map<string, number>();
        const useOf = (name: string) => use.get(name) ?? null;
        const drainFailedUntilMs = ({ drainFailed }: { readonly drainFailed: string }) => Number(drainFailed);
        const rest = { clock, nodes, drainFailedUntilMs };
        const takeChangedUse = () => {
          const names = [...changed];
          changed.clear();
          return names;
        };
        const tracker = new NodeFactTracker({ ...rest, pods: { useOf, takeChangedUse } });
        const thorough = new NodeFactTracker({
          ...rest,
          pods: { useOf, takeChangedUse: () => ['a', 'b', 'c'] },
        });
        for (const { name, node, isDrainFailed, seconds, ...counts } of steps) {
          use.set(name, counts);
          changed.add(name);
          if (isDrainFailed) failedUntilMs.set(name, clock.now() + 100_000);
          const annotations = { [DRAIN_FAILED_ANNOTATION]: String(failedUntilMs.get(name) ?? 0) };
          const labels = { [MACHINE_LABEL]: node === 'same' ? `m-${name}` : 'm-other' };
          if (node === 'gone') nodes.remove({ metadata: { name } });
          else nodes.set({ metadata: { name, labels, annotations } });
          expect(tracker.refresh()).toEqual(thorough.refresh());
          await clock.advance(seconds * 1000);
          expect(tracker.refresh()).toEqual(thorough.refresh());
        }
      }),
    );
  });

  it('given any course of pods, then each machine is listed at most once and an empty one was empty for two minutes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(2), fc.nat(1), fc.nat(1), fc.nat(20)), {
          maxLength: 30,
        }),
        async (steps) => {
          const { use, passed, clock } = scene();
          const emptySince = new Map<string, number>();
          for (const [name, pods, doNotDisrupt, withoutBudget, wait] of steps) {
            use.set(name, pods === 0 ? EMPTY : { pods, doNotDisrupt, withoutBudget });
            if (pods > 0) emptySince.delete(name);
            else if (!emptySince.has(name)) emptySince.set(name, clock.now());
            const facts = await passed(wait * 10_000);
            const ids = [
              ...facts.empty,
              ...facts.inUse,
              ...facts.protected.map(({ machineId }) => machineId),
            ];
            expect(new Set(ids).size).toBe(ids.length);
            for (const id of facts.empty)
              expect(clock.now() - emptySince.get(id.slice(2))!).toBeGreaterThanOrEqual(120_000);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
