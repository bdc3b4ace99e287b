// What fake kubelets can be made to do, on both control planes: slow and failed boots, lost heartbeats, disk pressure,
// machines that vanish. Declared by test/kube/nodes.test.ts on control planes that give up on nodes early.

import { expect } from 'vitest';
import { type Node, type Pod, pathOf, RESOURCES } from '../../src/operator/kube/index.ts';
import { eventually } from './control-plane.ts';
import { FakeKubelets } from './kubelet.ts';
import { failureOf, podBody, pods } from './shared-cases.ts';
import type { Case, CaseContext } from './suite.ts';

/** Long enough for kubelets beside a real control plane on a busy machine, which renew Leases each second. */
export const GRACE_SECONDS = 60;
/** Longer than a controller takes to give up on a node, on a busy machine. */
const LOST_MS = 240_000;

function fleet({ plane, defer }: CaseContext): FakeKubelets {
  const kubelets = new FakeKubelets({ client: plane.admin, heartbeatMs: 1_000 });
  kubelets.start();
  defer(async () => {
    for (const name of kubelets.nodeNames) await kubelets.terminate(name);
    await kubelets.stop();
  });
  return kubelets;
}

function machine({ prefix }: CaseContext, index = 1) {
  const name = `${prefix}-n${index}`;
  const capacity = { cpu: '4', memory: '8Gi' };
  return { name, providerID: `fake://${name}`, labels: { case: prefix }, taints: [], capacity };
}

function conditionOf({ status }: Node, type: string): string | undefined {
  return status?.conditions?.find((each) => each.type === type)?.status;
}

const nodePath = (name: string): string => pathOf(RESOURCES.nodes, { name });

export const NODE_CASES: readonly Case[] = [
  {
    title: 'given a slow boot, then the Node appears after it; given a failed one, never',
    run: async (context) => {
      const kubelets = fleet(context);
      const { admin } = context.plane;
      const slow = machine(context, 1);
      const { promise: after, resolve: start } = Promise.withResolvers<void>();
      const boot = kubelets.boot(slow, { after });
      expect((await failureOf(admin.get(nodePath(slow.name)))).isNotFound).toBe(true);
      start();
      await boot;
      expect(conditionOf(await admin.get<Node>(nodePath(slow.name)), 'Ready')).toBe('True');
      const broken = machine(context, 2);
      await kubelets.boot(broken, { fails: true });
      expect((await failureOf(admin.get(nodePath(broken.name)))).isNotFound).toBe(true);
    },
  },
  {
    title: 'given disk pressure, then the Node says so until it ends',
    run: async (context) => {
      const kubelets = fleet(context);
      const { admin } = context.plane;
      const { name } = machine(context);
      await kubelets.boot(machine(context));
      for (const hasPressure of [true, false]) {
        await kubelets.setDiskPressure(name, hasPressure);
        expect(conditionOf(await admin.get<Node>(nodePath(name)), 'DiskPressure')).toBe(
          hasPressure ? 'True' : 'False',
        );
      }
    },
  },
  {
    title: 'given a lost heartbeat, then the Node becomes unreachable and its pods are deleted; both recover',
    run: async (context) => {
      const kubelets = fleet(context);
      const { admin } = context.plane;
      const { name } = machine(context);
      await kubelets.boot(machine(context));
      // If most nodes are lost, controllers suspect the network and evict nothing.
      const others = [2, 3].map((index) => ({ ...machine(context, index), labels: {} }));
      for (const other of others) await kubelets.boot(other);
      const tolerations = ['not-ready', 'unreachable'].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 1,
      }));
      const spec = { nodeSelector: { case: context.prefix }, tolerations, terminationGracePeriodSeconds: 0 };
      await admin.create(pods(context), podBody('a', spec));
      await eventually(
        'it runs',
        async () => (await admin.get<Pod>(pods(context, 'a'))).status?.phase === 'Running',
      );
      kubelets.setHeartbeat(name, false);
      await eventually(
        'the Node is unreachable',
        async () => {
          const node = await admin.get<Node>(nodePath(name));
          const isTainted = (node.spec?.taints ?? []).some(
            ({ key, effect }) => key === 'node.kubernetes.io/unreachable' && effect === 'NoExecute',
          );
          return conditionOf(node, 'Ready') === 'Unknown' && isTainted;
        },
        LOST_MS,
      );
      await eventually('the pod is deleted, or waits for its kubelet', async () => {
        const pod = await admin.get<Pod>(pods(context, 'a')).catch(() => null);
        return pod === null || pod.metadata.deletionTimestamp !== undefined;
      });
      kubelets.setHeartbeat(name, true);
      await eventually('the taint is gone', async () => {
        const { spec: node } = await admin.get<Node>(nodePath(name));
        return (node?.taints ?? []).length === 0;
      });
      await eventually(
        'the pod is gone',
        async () => (await admin.get(pods(context, 'a')).catch(() => null)) === null,
      );
    },
  },
  {
    title: 'given a machine that vanishes with its Node, then both are gone',
    run: async (context) => {
      const kubelets = fleet(context);
      const { admin } = context.plane;
      const { name } = machine(context);
      await kubelets.boot(machine(context));
      await kubelets.terminate(name);
      expect((await failureOf(admin.get(nodePath(name)))).isNotFound).toBe(true);
      expect(kubelets.nodeNames).toEqual([]);
      // It may come back under its name.
      await kubelets.boot(machine(context));
      expect(conditionOf(await admin.get<Node>(nodePath(name)), 'Ready')).toBe('True');
    },
  },
];
