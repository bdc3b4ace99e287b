// What becomes of a drain and its Node when the machine fails or leaves the cluster.

import { describe, expect, it } from 'vitest';
import { DrainScene, KIND_PREEMPTION, KIND_RECLAIM } from '../../../testing/support/drain-scene.ts';
import { nodeStateUpdate } from '../../../testing/support/operator-parts.ts';
import { MachineState } from '../../model/index.ts';
import { NodeReport_Kind } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { DRAIN_ANNOTATION } from '../nodes/node-table.ts';

const { KIND_DRAIN_BLOCKED } = NodeReport_Kind;
const WEB = { app: 'web' };

function scene(): DrainScene {
  const made = new DrainScene();
  made.node('n1');
  return made;
}

describe('the machine of a drain', () => {
  it('given a drained machine that has left, then its Node is removed and the report closed', async () => {
    const s = scene();
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(5_000);
    s.drains.nodeStateUpdate(nodeStateUpdate('m-n1', MachineState.Draining));
    s.drains.nodeStateUpdate(nodeStateUpdate('m-n1', MachineState.Idle));
    await s.clock.advance(1_000);
    expect(s.getNode('n1')).toBeUndefined();
    s.drains.connected();
    expect(s.link.reports).toHaveLength(1);
  });

  it.each([
    ['a reclaim', KIND_RECLAIM],
    ['a preemption', KIND_PREEMPTION],
  ])(
    'given a machine that is Failed during %s, then its Node and pods stay and the drain ends',
    async (_, kind) => {
      const s = scene();
      s.cluster.addPod('a', 'web-1', 'n1', { metadata: { name: '', labels: WEB } });
      s.cluster.addBudget('a', 'web', WEB, 0);
      s.start();
      s.instruct('i1', ['n1'], { kind });
      await s.clock.advance(5_000);
      s.drains.nodeStateUpdate(nodeStateUpdate('m-n1', MachineState.Failed));
      s.cluster.setAllowed('a', 'web', 1);
      await s.clock.advance(900_000);
      expect(s.getNode('n1')).toBeDefined();
      expect(s.evicted()).toEqual([]);
      expect(s.cluster.deletions).toEqual([]);
      expect(s.isCordoned('n1')).toBe(false);
      expect(s.getNode('n1').metadata.annotations?.[DRAIN_ANNOTATION]).toBeUndefined();
      expect(s.link.reports.at(-1)).toMatchObject({ kind: KIND_DRAIN_BLOCKED, instructionId: 'i1' });
      expect(s.link.reports.at(-1)?.reason).toContain('Failed');
      expect(s.events.reasons().at(-1)).toBe('DrainWithdrawn');
    },
  );

  it('given a machine that is Failed after its node was drained, then its Node is removed', async () => {
    const s = scene();
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(5_000);
    s.drains.nodeStateUpdate(nodeStateUpdate('m-n1', MachineState.Failed));
    await s.clock.advance(1_000);
    expect(s.getNode('n1')).toBeUndefined();
  });
});
