// The assessment of hand-made clusters: what runs now, what would run, what sharing saves, what is stranded and what is left out.

import { describe, expect, it } from 'vitest';
import { CATALOGUE, catalogueOf, node, podOn } from '../../testing/support/assess-clusters.ts';
import type { Node, Pod } from '../operator/kube/index.ts';
import { assess, type ClusterObjects, htmlPage } from './index.ts';

const NOW = Date.UTC(2026, 0, 1);

function cluster(
  name: string,
  nodes: readonly Node[],
  pods: readonly Pod[],
  supporting: ClusterObjects['supporting'] = {},
): ClusterObjects {
  return { name, nodes, pods, supporting, gaps: [] };
}

function assessed(clusters: readonly ClusterObjects[], catalogue = CATALOGUE) {
  return assess({ clusters, catalogue: catalogueOf(catalogue), nowMs: NOW });
}

const pods = (on: string, count: number, cpu: string, spec: Partial<Pod['spec']> = {}): readonly Pod[] =>
  Array.from({ length: count }, (_, i) => podOn(on, `${on || 'wait'}-${cpu}-${i}`, cpu, spec));

describe('what runs now', () => {
  it('given nodes of two kinds, then they have the prices of the catalogue, by cluster and by type', () => {
    const spot = { 'karpenter.sh/capacity-type': 'spot' };
    const nodes = [node('a', 'small', 4), node('b', 'small', 4, spot), node('c', 'large', 16)];
    const { clusters, now } = assessed([cluster('web', nodes, pods('a', 1, '1'))]);
    expect(now).toMatchObject({ machines: 3, dollarsPerHour: 4.5 });
    expect(clusters[0]!.now.types).toEqual([
      { instanceType: 'large', capacityType: 'on demand', machines: 1, dollarsPerHour: 3 },
      { instanceType: 'small', capacityType: 'on demand', machines: 1, dollarsPerHour: 1 },
      { instanceType: 'small', capacityType: 'spot', machines: 1, dollarsPerHour: 0.5 },
    ]);
  });

  it('given nodes without a price and of the control plane, then they and their pods are in no figure', () => {
    const nodes = [
      node('a', 'small', 4),
      node('b', 'huge', 64),
      node('c', '', 4),
      node('d', 'small', 4, { 'node-role.kubernetes.io/control-plane': '' }),
    ];
    const all = [...pods('a', 2, '1'), ...pods('b', 5, '8'), ...pods('d', 1, '1')];
    const { clusters, now, onDemand } = assessed([cluster('web', nodes, all)]);
    expect(now).toMatchObject({ machines: 1, dollarsPerHour: 1 });
    expect(clusters[0]).toMatchObject({ pods: 2 });
    expect(clusters[0]!.leftOut).toEqual(
      expect.arrayContaining([
        { instanceType: 'huge', reason: 'not in the catalogue', nodes: 1 },
        { instanceType: '', reason: 'no instance type', nodes: 1 },
        { instanceType: 'small', reason: 'control plane', nodes: 1 },
      ]),
    );
    expect(onDemand).toMatchObject({ machines: 1, unmet: [] });
  });
});

describe('what BigFleet would run', () => {
  it('given pods spread thinly over nodes, then fewer machines serve them, and spot ones for less', () => {
    const nodes = Array.from({ length: 6 }, (_, i) => node(`n${i}`, 'small', 4));
    const all = nodes.flatMap(({ metadata }) => pods(metadata.name, 1, '1'));
    const { now, onDemand, withSpot } = assessed([cluster('web', nodes, all)]);
    expect(now.dollarsPerHour).toBe(6);
    expect(onDemand).toMatchObject({ machines: 2, dollarsPerHour: 2, unmet: [], withoutRoom: 0 });
    expect(withSpot).toMatchObject({ machines: 2, dollarsPerHour: 1 });
    expect(onDemand!.clusters).toEqual([{ name: 'web', machines: 2, dollarsPerHour: 2 }]);
  });

  it('given pods whose sum fits machines that not every pod fits, then there is a machine for each', () => {
    // Nine cores would fit three machines of four, but two pods of three cores do not fit one of them.
    const nodes = Array.from({ length: 4 }, (_, i) => node(`n${i}`, 'small', 4));
    const all = nodes.flatMap(({ metadata }) => pods(metadata.name, 1, '3'));
    const only = CATALOGUE.split('\n').slice(0, 3).join('\n');
    const { onDemand } = assessed([cluster('web', nodes, all)], only);
    expect(onDemand).toMatchObject({ machines: 4, dollarsPerHour: 4, withoutRoom: 0 });
  });

  it('given DaemonSets, then machines have room for their pods as well', () => {
    const agent = {
      metadata: { name: 'agent', namespace: 'kube-system' },
      spec: {
        template: {
          spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] },
        },
      },
    };
    const nodes = [node('a', 'small', 4), node('b', 'small', 4)];
    const all = [...pods('a', 2, '2'), ...pods('b', 2, '1500m')];
    const only = CATALOGUE.split('\n').slice(0, 3).join('\n');
    const machines = (daemonsets: readonly (typeof agent)[]) =>
      assessed([cluster('web', nodes, all, { daemonsets })], only).onDemand!.machines;
    expect(machines([])).toBe(2);
    expect(machines([agent])).toBe(3);
  });

  it('given owned nodes, then they are used first and their cost stays', () => {
    const nodes = [node('metal', 'metal', 8), node('a', 'small', 4), node('b', 'small', 4)];
    const all = [...pods('a', 2, '1'), ...pods('b', 2, '2')];
    const { now, onDemand } = assessed([cluster('web', nodes, all)]);
    expect(now.dollarsPerHour).toBe(4);
    expect(onDemand).toMatchObject({ machines: 1, dollarsPerHour: 2 });
    expect(onDemand!.types).toEqual([
      { instanceType: 'metal', capacityType: 'bare metal', machines: 1, dollarsPerHour: 2 },
    ]);
  });

  it('given pods that no machine of the catalogue serves, then they are named with what they want', () => {
    const wants = { nodeSelector: { team: 'ml' } };
    const nodes = [node('a', 'small', 4, { team: 'ml' })];
    const { onDemand } = assessed([
      cluster('web', nodes, [...pods('a', 1, '1'), ...pods('a', 2, '500m', wants)]),
    ]);
    expect(onDemand!.unmet).toEqual([
      expect.objectContaining({ cluster: 'web', pods: 2, wants: expect.stringContaining('team in ml') }),
    ]);
    expect(onDemand!.machines).toBe(1);
  });
});

describe('what sharing saves', () => {
  it('given one cluster, then there is nothing to share', () => {
    expect(assessed([cluster('web', [node('a', 'small', 4)], pods('a', 1, '1'))]).sharing).toBeNull();
  });

  it('given a cluster with a spare node and one whose pods wait, then one pool buys less', () => {
    const web = cluster('web', [node('a', 'small', 4), node('b', 'small', 4)], pods('a', 2, '1'));
    const batch = cluster('batch', [node('c', 'small', 4)], [...pods('c', 4, '1'), ...pods('', 3, '1')]);
    const { sharing } = assessed([web, batch]);
    expect(sharing!.apartByCluster).toMatchObject([
      { name: 'web', bought: { machines: 0 }, spare: { machines: 1, dollarsPerHour: 1 }, unmetPods: 0 },
      { name: 'batch', bought: { machines: 1, dollarsPerHour: 1 }, spare: { machines: 0 }, unmetPods: 0 },
    ]);
    expect(sharing).toMatchObject({
      apart: { bought: { dollarsPerHour: 1 }, spare: { dollarsPerHour: 1 } },
      together: { bought: { machines: 0 }, spare: { machines: 0 }, unmetPods: 0 },
      avoidedPerHour: 1,
      headroomPerHour: 0,
    });
  });

  it('given two clusters with spare nodes, then one pool has more of them than any cluster alone', () => {
    const alone = (name: string, nodes: number) =>
      cluster(
        name,
        Array.from({ length: nodes }, (_, i) => node(`${name}${i}`, 'small', 4)),
        pods(`${name}0`, 1, '1'),
      );
    const { sharing } = assessed([alone('web', 4), alone('batch', 3)]);
    expect(sharing).toMatchObject({
      avoidedPerHour: 0,
      together: { spare: { machines: 5 } },
      headroomPerHour: 2,
    });
  });
});

describe('what is stranded', () => {
  it('given a node half of whose cores are requested, then the rest is counted in units and dollars', () => {
    const { clusters, strandedPerHour } = assessed([
      cluster(
        'web',
        [node('a', 'small', 4)],
        [...pods('a', 2, '1'), podOn('a', 'done', '1', {})].map(finished),
      ),
    ]);
    expect(clusters[0]!.stranded).toEqual([
      expect.objectContaining({ resource: 'memory', dollarsPerHour: (0.5 * 14) / 16 }),
      { resource: 'cpu', allocatable: 4000, requested: 2000, stranded: 2000, dollarsPerHour: 0.25 },
    ]);
    expect(strandedPerHour).toBe(0.6875);
  });

  it('given a node with accelerators, then its price is that of the accelerators', () => {
    const gpu = { ...node('a', 'small', 4), status: { allocatable: { cpu: '4', 'nvidia.com/gpu': '2' } } };
    const uses = { containers: [{ name: 'main', resources: { requests: { 'nvidia.com/gpu': '1' } } }] };
    const { clusters } = assessed([cluster('ml', [gpu], [podOn('a', 'train', '0', uses)])]);
    const dollars = clusters[0]!.stranded.map(({ dollarsPerHour, resource }) => [resource, dollarsPerHour]);
    expect(Object.fromEntries(dollars)).toEqual({ 'nvidia.com/gpu': 0.5, cpu: 0 });
  });

  function finished(pod: Pod): Pod {
    return pod.metadata.name === 'done' ? { ...pod, status: { phase: 'Succeeded' } } : pod;
  }
});

describe('pods that could not be expressed', () => {
  it('given a request that is not an amount, then the pod is in no Need and named', () => {
    const { clusters } = assessed([
      cluster('web', [node('a', 'small', 4)], [...pods('a', 1, '1'), podOn('a', 'odd', 'many')]),
    ]);
    expect(clusters[0]).toMatchObject({ pods: 1, notExpressed: [{ pods: 1, examples: ['shop/odd'] }] });
    expect(clusters[0]!.notExpressed[0]!.text).toContain('"many" is not a quantity');
  });

  it('given a running pod with a constraint that a Need does not have, then the remark names it', () => {
    const anti = {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'db' } } },
          ],
        },
      },
    };
    const { clusters } = assessed([cluster('web', [node('a', 'small', 4)], pods('a', 2, '1', anti))]);
    expect(clusters[0]!.remarks).toMatchObject([{ pods: 2, examples: ['shop/a-1-0', 'shop/a-1-1'] }]);
  });

  it('given claims that were not read, then pods with volumes count all the same', () => {
    const volume = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
    const { clusters } = assessed([
      cluster('web', [node('a', 'small', 4)], [...pods('a', 1, '1'), podOn('', 'db', '1', volume)]),
    ]);
    expect(clusters[0]).toMatchObject({ pods: 2, waitingPods: 1, notExpressed: [] });
  });
});

describe('the page', () => {
  it('given names with markup, then they are text, and the page makes no request', () => {
    const name = '<img src=x onerror=alert(1)>';
    const other = cluster('web', [node('a', 'small', 4)], pods('a', 1, '1'));
    const page = htmlPage(assessed([cluster(name, [node('b', 'small', 4)], pods('b', 1, '1')), other]));
    expect(page).not.toContain('<img');
    expect(page).toContain('&lt;img');
    expect(page).not.toMatch(/<script|<link|<[^>]* (?:src|href)=|url\(|@import/);
    expect(page).toContain('prefers-color-scheme: dark');
    expect(page.match(/<svg /g)!.length).toBeGreaterThanOrEqual(3);
    expect(page).toContain('INVENTED PRICES');
  });
});
