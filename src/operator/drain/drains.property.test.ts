// Drains under random crashes of the operator at any API call, lost answers, withdrawals and lost sessions. At the end
// every node is drained, or uncordoned with the drain given up, and no budget was ever overdrawn by a reclaim.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DrainScene, KIND_PREEMPTION, KIND_RECLAIM } from '../../../testing/support/drain-scene.ts';
import { RecordedLink } from '../../../testing/support/operator-parts.ts';
import { type NodeReport, NodeReport_Kind } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { KubeError } from '../kube/client.ts';
import { DRAIN_ANNOTATION } from '../nodes/node-table.ts';

const WEB = { app: 'web' };
const RESTART_MS = 5_000;
const REPLACED_MS = 15_000;

interface Instruction {
  readonly id: string;
  readonly node: string;
  readonly isPreemption: boolean;
  readonly graceSeconds: bigint;
}

const nodeArb = fc.record({
  web: fc.nat(2),
  free: fc.nat(2),
  isHeld: fc.boolean(),
  isPreemption: fc.boolean(),
  graceSeconds: fc.integer({ min: 20, max: 200 }),
  withdrawnAfter: fc.option(fc.integer({ min: 0, max: 100 }), { nil: null, freq: 3 }),
});

/** A shard that repeats its open instructions after each hello and believes reports. */
class Shard {
  readonly open = new Map<string, Instruction>();
  readonly drained = new Set<string>();
  readonly blocked = new Set<string>();

  receive({ kind, instructionId }: NodeReport): void {
    if (!this.open.has(instructionId)) return;
    if (kind === NodeReport_Kind.KIND_DRAINED) this.drained.add(instructionId);
    // Of a preemption it is told only what blocks.
    if (kind === NodeReport_Kind.KIND_DRAIN_BLOCKED && this.open.get(instructionId)?.isPreemption === false) {
      this.blocked.add(instructionId);
      this.open.delete(instructionId);
    }
  }
}

describe('drains under crashes', () => {
  it('given crashes at any API call, then each drain ends as drained or given up, and nothing stays cordoned for nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(nodeArb, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 3 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 25 }), fc.boolean(), fc.boolean()), { maxLength: 8 }),
        async (nodes, room, crashes) => {
          const s = new DrainScene();
          const shard = new Shard();
          s.cluster.addBudget('a', 'web', WEB, room);
          for (const [n, { web, free, isHeld }] of nodes.entries()) {
            s.node(`n${n}`);
            for (let i = 0; i < web; i++)
              s.cluster.addPod('a', `web-${n}-${i}`, `n${n}`, { metadata: { name: '', labels: WEB } });
            for (let i = 0; i < free; i++) s.cluster.addPod('a', `free-${n}-${i}`, `n${n}`);
            const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
            if (isHeld) s.cluster.addPod('a', `held-${n}`, `n${n}`, { metadata: { name: '', annotations } });
          }
          const plan = [...crashes];
          let calls = 0;
          let evictions = 0;

          const start = () => {
            let isDead = false;
            const link = new RecordedLink();
            link.sendNodeReport = (report) => {
              if (!isDead) shard.receive(report);
            };
            s.link = link;
            const crash = async (isAfter: boolean): Promise<void> => {
              if (isDead) return await new Promise<void>(() => {});
              const [next] = plan;
              if (next === undefined || next[1] !== isAfter || calls < next[0]) return;
              plan.shift();
              calls = 0;
              // Some crashes are an answer that is lost; the operator lives.
              if (next[2]) throw new KubeError('connection lost', { status: 0 });
              isDead = true;
              s.drains.stop();
              s.clock.after(RESTART_MS, start);
              await new Promise<void>(() => {});
            };
            s.start({
              before: async () => {
                calls++;
                await crash(false);
              },
              after: async ({ verb }) => {
                if (verb === 'evict') {
                  evictions++;
                  s.clock.after(REPLACED_MS, () => {
                    const budget = s.cluster.get('/apis/policy/v1/namespaces/a/poddisruptionbudgets/web')!;
                    const allowed = (budget['status'] as { disruptionsAllowed: number }).disruptionsAllowed;
                    if (room > 0) s.cluster.setAllowed('a', 'web', Math.min(room, allowed + 1));
                  });
                }
                await crash(true);
              },
            });
            s.drains.connected();
            s.clock.after(1_000, () => {
              if (!isDead) s.drains.resynced();
            });
            for (const { id, node, isPreemption, graceSeconds } of shard.open.values())
              s.instruct(id, [node], {
                kind: isPreemption ? KIND_PREEMPTION : KIND_RECLAIM,
                gracePeriodSeconds: graceSeconds,
              });
          };

          for (const [n, { isPreemption, graceSeconds }] of nodes.entries())
            shard.open.set(`i${n}`, {
              id: `i${n}`,
              node: `n${n}`,
              isPreemption,
              graceSeconds: BigInt(graceSeconds),
            });
          start();
          const withdrawn = new Set<string>();
          for (const [n, { withdrawnAfter }] of nodes.entries()) {
            if (withdrawnAfter === null) continue;
            s.clock.after(withdrawnAfter * 1000, () => {
              // The shard withdraws only what has not been reported as done.
              if (shard.drained.has(`i${n}`) || !shard.open.delete(`i${n}`)) return;
              withdrawn.add(`i${n}`);
              s.drains.reclaimWithdrawal({ instructionId: `i${n}`, nodes: [`n${n}`], reason: '' });
            });
          }
          await s.clock.advance(700_000);
          s.drains.stop();
          s.stopWatch();

          expect(s.cluster.evictions.length).toBe(new Set(s.cluster.evictions.map(({ uid }) => uid)).size);
          expect(evictions).toBeLessThanOrEqual(s.cluster.evictions.length + crashes.length);
          for (const [n, { isPreemption, isHeld }] of nodes.entries()) {
            const id = `i${n}`;
            const node = s.getNode(`n${n}`);
            const left = s.cluster.pods(`n${n}`).map(({ metadata }) => metadata.name);
            const ended = shard.drained.has(id) || shard.blocked.has(id) || withdrawn.has(id);
            expect(ended, `${id} has no end`).toBe(true);
            if (shard.drained.has(id)) {
              expect(left, `${id} was reported as drained`).toEqual([]);
              expect(node.spec?.unschedulable).toBe(true);
            } else {
              expect(node.spec?.unschedulable, `${id} is still cordoned`).not.toBe(true);
              expect(node.metadata.annotations?.[DRAIN_ANNOTATION]).toBeUndefined();
            }
            // A reclaim never touches a pod that must not be disrupted, nor any other pod beside it.
            if (!isPreemption && isHeld)
              expect(
                s.evicted().filter((name) => new RegExp(`^a/(web|free|held)-${n}(-\\d)?$`).test(name)),
              ).toEqual([]);
            if (isPreemption && !withdrawn.has(id)) expect(shard.drained.has(id)).toBe(true);
          }
          // Only preemptions past their deadline delete without asking.
          const deleted = s.cluster.deletions.map((path) => path.split('/').at(-1)!);
          for (const name of deleted) expect(nodes[Number(name.split('-')[1])]?.isPreemption).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);
});
