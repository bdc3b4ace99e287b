// Any sequence of events leaves the same rows as counting everything from scratch: the table, the sums, the largest pods,
// the overhead of nodes and the bytes of rows are all adjusted step by step, and each could drift.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RollupParts } from '../../src/operator/demand/contract.ts';
import { Demand } from '../../src/operator/demand/demand.ts';
import type { DemandOptions } from '../../src/operator/demand/pod-demand.ts';
import type { DaemonSet, Pod } from '../../src/operator/kube/objects.ts';
import { DEFAULT_TRANSLATION, type TranslationSettings } from '../../src/operator/pods/settings.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import { ClusterCapacityNeeds } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { decodeStrict, RollupIntake } from '../../src/wire/index.ts';
import { Cluster, wireOf } from './demand-oracle.ts';

const SETTINGS: TranslationSettings = {
  ...DEFAULT_TRANSLATION,
  taints: [{ selector: { matchLabels: { pool: 'gpu' } }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] }],
  priorityClassDefaults: { high: { interruptionPenalty: '3' } },
};
const PARTS: RollupParts = { extraNeeds: [], nodeFacts: undefined };
const ZONE = 'topology.kubernetes.io/zone';

const name = (prefix: string, count: number) => fc.nat(count - 1).map((i) => `${prefix}${i}`);
const podName = name('p', 12);
const nodeName = name('n', 4);
const namespaceName = name('ns', 3);
/** Mostly the first, so that most pods count. */
const rarely = <T, U>(usual: fc.Arbitrary<T>, ...others: readonly U[]): fc.Arbitrary<T | U> =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const quantity = rarely(
  fc.constantFrom('100m', '250m', '1', '2'),
  '8191P',
  '9007199254740990m',
  'nonsense',
  '-1',
);
const requests = fc.record(
  {
    cpu: quantity,
    memory: rarely(fc.constantFrom('1Gi', '64Mi', '3'), '5000P'),
    'example.com/card': fc.constantFrom('1', '2'),
  },
  { requiredKeys: [] },
);
const expression = rarely(
  fc.constantFrom(
    { key: ZONE, operator: 'In', values: ['a'] },
    { key: ZONE, operator: 'In', values: ['b'] },
    { key: 'size', operator: 'Gt', values: ['4'] },
    { key: 'pool', operator: 'In', values: ['gpu'] },
    { key: 'pool', operator: 'DoesNotExist' },
  ),
  { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] },
  { key: 'x', operator: 'Sideways', values: ['1'] },
);
const affinity = fc.option(
  fc.record(
    {
      nodeAffinity: fc
        .array(fc.array(expression, { maxLength: 2 }), { minLength: 1, maxLength: 3 })
        .map((terms) => ({
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
          },
        })),
      podAffinity: fc.constant({
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: ZONE, labelSelector: { matchLabels: { app: 'web' } } },
        ],
      }),
    },
    { requiredKeys: [] },
  ),
  { nil: undefined, freq: 2 },
);
const UNSCHEDULABLE = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

const pod: fc.Arbitrary<Pod> = fc
  .record({
    name: podName,
    namespace: namespaceName,
    life: fc.constantFrom(0, 0, 0, 1),
    node: fc.option(nodeName, { nil: undefined }),
    requests,
    affinity,
    isMarked: rarely(fc.constant(true), false),
    isGated: rarely(fc.constant(false), true),
    phase: rarely(fc.constantFrom('Pending', 'Running'), 'Succeeded', 'Failed'),
    isTerminating: rarely(fc.constant(false), true),
    owner: fc.constantFrom(undefined, undefined, undefined, 'ReplicaSet', 'DaemonSet', 'Node'),
    ignore: rarely(fc.constant(undefined), 'true', 'false'),
    optIn: fc.constantFrom(undefined, 'true', 'false'),
    priority: fc.constantFrom(undefined, 0, 100),
    claim: fc.constantFrom(undefined, undefined, undefined, 'c0', 'c1'),
    tolerates: fc.boolean(),
    penalty: fc.constantFrom(undefined, '5', 'cheap'),
    careful: fc.boolean(),
    isIdle: fc.boolean(),
  })
  .map((it): Pod => {
    const labels = { app: 'web', ...(it.optIn === undefined ? {} : { 'bigfleet.lucy.sh/opt-in': it.optIn }) };
    const annotations = {
      ...(it.ignore === undefined ? {} : { 'bigfleet.lucy.sh/ignore': it.ignore }),
      ...(it.penalty === undefined ? {} : { 'bigfleet.lucy.sh/interruption-penalty': it.penalty }),
      ...(it.careful ? { 'karpenter.sh/do-not-disrupt': 'true' } : {}),
    };
    const owner = { apiVersion: 'apps/v1', kind: it.owner ?? '', name: 'o', uid: 'o', controller: true };
    // As kube-proxy of kubeadm: many pods of DaemonSets request nothing.
    const amounts = it.isIdle && (it.owner === 'DaemonSet' || it.owner === 'Node') ? {} : it.requests;
    return {
      metadata: {
        name: it.name,
        namespace: it.namespace,
        uid: `${it.namespace}-${it.name}-${it.life}`,
        labels,
        annotations,
        ...(it.owner === undefined ? {} : { ownerReferences: [owner] }),
        ...(it.isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      },
      spec: {
        containers: [{ name: 'main', resources: { requests: amounts as Record<string, string> } }],
        priorityClassName: 'high',
        ...(it.node === undefined ? {} : { nodeName: it.node }),
        ...(it.affinity === undefined
          ? {}
          : { affinity: it.affinity as NonNullable<Pod['spec']['affinity']> }),
        ...(it.isGated ? { schedulingGates: [{ name: 'queue' }] } : {}),
        ...(it.priority === undefined ? {} : { priority: it.priority }),
        ...(it.tolerates ? { tolerations: [{ operator: 'Exists' }] } : {}),
        ...(it.claim === undefined
          ? {}
          : { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: it.claim } }] }),
      },
      status: { phase: it.phase, ...(it.isMarked ? { conditions: [UNSCHEDULABLE] } : {}) },
    };
  });

const daemonSet = fc
  .record({ name: name('d', 2), requests, isTolerant: fc.boolean(), zone: fc.constantFrom(undefined, 'a') })
  .map(
    (it): DaemonSet => ({
      metadata: { name: it.name, namespace: 'ns0' },
      spec: {
        template: {
          spec: {
            containers: [{ name: 'main', resources: { requests: it.requests as Record<string, string> } }],
            ...(it.isTolerant ? { tolerations: [{ operator: 'Exists' }] } : {}),
            ...(it.zone === undefined ? {} : { nodeSelector: { [ZONE]: it.zone } }),
          },
        },
      },
    }),
  );

const node = fc
  .record({
    name: nodeName,
    zone: fc.constantFrom('a', 'b'),
    size: fc.constantFrom(undefined, '2', '8'),
    pool: fc.constantFrom(undefined, 'gpu'),
  })
  .map((it) => ({
    metadata: {
      name: it.name,
      labels: {
        [ZONE]: it.zone,
        ...(it.size === undefined ? {} : { size: it.size }),
        ...(it.pool === undefined ? {} : { pool: it.pool }),
      },
    },
  }));

const podUid = fc
  .tuple(namespaceName, podName, fc.constantFrom(0, 0, 0, 1))
  .map(([ns, p, life]) => `${ns}-${p}-${life}`);

const event: fc.Arbitrary<(cluster: Cluster) => void> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(fc.nat(), requests).map(
      ([nth, amounts]) =>
        (cluster: Cluster) =>
          cluster.resize(nth, amounts as Record<string, string>),
    ),
  },
  { weight: 3, arbitrary: fc.nat().map((nth) => (cluster: Cluster) => cluster.recreate(nth)) },
  {
    weight: 2,
    arbitrary: fc.constant((cluster: Cluster) => void cluster.demand.build(1n, PARTS)),
  },
  { weight: 10, arbitrary: pod.map((each) => (cluster: Cluster) => cluster.set('pods', each)) },
  {
    weight: 3,
    arbitrary: podUid.map((uid) => (cluster: Cluster) => cluster.remove('pods', uid)),
  },
  { weight: 3, arbitrary: node.map((each) => (cluster: Cluster) => cluster.set('nodes', each)) },
  nodeName.map((each) => (cluster: Cluster) => cluster.remove('nodes', each)),
  { weight: 2, arbitrary: nodeName.map((each) => (cluster: Cluster) => cluster.toggleManaged(each)) },
  fc
    .tuple(
      namespaceName,
      fc.constantFrom({}, {}, { 'bigfleet.lucy.sh/opt-in': 'true' }, { 'bigfleet.lucy.sh/ignore': '' }),
    )
    .map(
      ([ns, labels]) =>
        (cluster: Cluster) =>
          cluster.set('namespaces', { metadata: { name: ns, labels } }),
    ),
  {
    weight: 3,
    arbitrary: fc
      .record({
        r: name('r', 4),
        owner: fc.option(fc.tuple(namespaceName, podName, fc.constantFrom(0, 0, 0, 1))),
        cpu: quantity,
        zone: fc.constantFrom('a', 'b'),
        phase: rarely(fc.constantFrom('Pending', 'Running'), 'Succeeded', 'Failed'),
      })
      .map(
        ({ r, owner, cpu, zone, phase }) =>
          (cluster: Cluster) =>
            cluster.set('capacityrequests', {
              metadata: {
                name: r,
                namespace: 'ns0',
                uid: r,
                ...(owner === null ? {} : { labels: { 'bigfleet.lucy.sh/owned-by-pod': owner.join('-') } }),
              },
              spec: {
                priority: 1,
                resources: { cpu },
                requirements: [{ key: ZONE, operator: 'In', values: [zone] }],
              },
              status: { phase },
            }),
      ),
  },
  name('r', 4).map((r) => (cluster: Cluster) => cluster.remove('capacityrequests', r)),
  fc.tuple(namespaceName, name('c', 2), fc.constantFrom('', 'v0', 'v1')).map(
    ([ns, c, volumeName]) =>
      (cluster: Cluster) =>
        cluster.set('persistentvolumeclaims', { metadata: { name: c, namespace: ns }, spec: { volumeName } }),
  ),
  fc.tuple(namespaceName, name('c', 2)).map(
    ([ns, c]) =>
      (cluster: Cluster) =>
        cluster.remove('persistentvolumeclaims', `${ns}/${c}`),
  ),
  fc.tuple(name('v', 2), fc.constantFrom('a', 'b')).map(
    ([v, zone]) =>
      (cluster: Cluster) =>
        cluster.set('persistentvolumes', {
          metadata: { name: v },
          spec: {
            nodeAffinity: {
              required: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] }],
              },
            },
          },
        }),
  ),
  daemonSet.map((each) => (cluster: Cluster) => cluster.set('daemonsets', each)),
  name('d', 2).map((each) => (cluster: Cluster) => cluster.remove('daemonsets', `ns0/${each}`)),
  fc
    .constantFrom(5, 7)
    .map(
      (value) => (cluster: Cluster) => cluster.set('priorityclasses', { metadata: { name: 'high' }, value }),
    ),
  fc.boolean().map(
    (hasRoom) => (cluster: Cluster) =>
      cluster.set('poddisruptionbudgets', {
        metadata: { name: 'web', namespace: 'ns1' },
        spec: { selector: { matchLabels: { app: 'web' } } },
        status: { disruptionsAllowed: hasRoom ? 1 : 0 },
      }),
  ),
  fc.constant((cluster: Cluster) => cluster.relist()),
  { weight: 3, arbitrary: fc.constant((cluster: Cluster) => cluster.look()) },
);

function optionsFor(mode: DemandOptions['mode'], managed: ReadonlySet<string>): DemandOptions {
  return {
    mode,
    translation: SETTINGS,
    alternativePatienceMs: Number.POSITIVE_INFINITY,
    joinTimeoutMs: 0,
    isManaged: (each) => managed.has(each),
    clock: new VirtualClock(),
  };
}

describe('demand after any events', () => {
  it('is what counting from scratch gives, on the wire and in the views', () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 20, maxLength: 60 }),
        fc.constantFrom('all', 'opt-in'),
        (events, mode) => {
          const managed = new Set<string>(['n0', 'n1']);
          const options = optionsFor(mode as DemandOptions['mode'], managed);
          const cluster = new Cluster(new Demand('c', options), options, managed);
          for (const apply of events) apply(cluster);
          const rollup = cluster.demand.build(7n, PARTS)!;
          const { needs, clusterId, timestampUnixNanos } = decodeStrict(ClusterCapacityNeeds, rollup.bytes);
          expect([clusterId, timestampUnixNanos, needs.length]).toEqual(['c', 7n, rollup.rows]);
          const expected = cluster.needs();
          expect(wireOf(needs)).toEqual(wireOf(expected));
          // The shard reads it without a refusal; only sums beyond 2^53 are remarked on.
          const result = new RollupIntake('c').read(rollup.bytes);
          expect(result.kind).not.toBe('refused');
          for (const each of ['n0', 'n1', 'n2', 'n3'])
            expect(cluster.demand.useOf(each)).toEqual(cluster.useOf(each));
          // A new operator that lists the same objects says the same.
          const fresh = cluster.copyInto(new Demand('c', options)).build(7n, PARTS)!;
          expect(wireOf(decodeStrict(ClusterCapacityNeeds, fresh.bytes).needs)).toEqual(wireOf(expected));
        },
      ),
      { numRuns: 500 },
    );
  });
});
