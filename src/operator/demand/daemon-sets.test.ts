// What DaemonSets add to min_unit: all pods that a machine of the row may have to hold.

import { beforeEach, describe, expect, it } from 'vitest';
import { DemandScene, pod, ZONE } from '../../../testing/support/demand-scene.ts';
import type { Pod } from '../kube/objects.ts';
import { DEFAULT_TRANSLATION } from '../pods/settings.ts';

let scene: DemandScene;
const list: DemandScene['list'] = (kind, ...objects) => scene.list(kind, ...objects);
const built: DemandScene['built'] = (...given) => scene.built(...given);

beforeEach(() => {
  scene = new DemandScene().listAll();
});

describe('min_unit with DaemonSets', () => {
  it('given DaemonSets, then min_unit includes those that run on a fresh node of the profile', () => {
    const daemon = (name: string, spec: Partial<Pod['spec']>) => ({
      metadata: { name, namespace: 'kube-system' },
      spec: {
        template: {
          spec: {
            containers: [{ name: 'main', resources: { requests: { cpu: '100m', memory: '64Mi' } } }],
            ...spec,
          },
        },
      },
    });
    list(
      'daemonsets',
      daemon('all', {}),
      daemon('zone-b', { nodeSelector: { [ZONE]: 'b' } }),
      daemon('linux', { nodeSelector: { 'kubernetes.io/os': 'linux' } }),
    );
    list('pods', pod('a', { nodeSelector: { [ZONE]: 'a' } }));
    expect(built().amounts).toEqual([{ sum: { cpu: '1' }, unit: { cpu: '1200m', memory: '128Mi' } }]);
  });

  it('given DaemonSets for some machines of a profile, then min_unit includes all that may be on one of them', () => {
    const cpu = (name: string, amount: string, spec: Partial<Pod['spec']>) => ({
      metadata: { name, namespace: 'kube-system' },
      spec: {
        template: {
          spec: { containers: [{ name: 'main', resources: { requests: { cpu: amount } } }], ...spec },
        },
      },
    });
    const terms = (...matchExpressions: readonly { key: string; operator: string; values?: string[] }[]) => ({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
        },
      },
    });
    list(
      'daemonsets',
      cpu('zone-a', '1m', { nodeSelector: { [ZONE]: 'a' } }),
      cpu('not-a', '10m', terms({ key: ZONE, operator: 'NotIn', values: ['a'] })),
      cpu('card', '100m', { nodeSelector: { card: 'yes' } }),
      cpu(
        'both',
        '1',
        terms({ key: ZONE, operator: 'NotIn', values: ['a'] }, { key: ZONE, operator: 'Exists' }),
      ),
      cpu('large', '10', terms({ key: 'size', operator: 'Gt', values: ['4'] })),
      cpu('windows', '100', { nodeSelector: { 'kubernetes.io/os': 'windows' } }),
      cpu('one-node', '1000', { nodeSelector: { 'kubernetes.io/hostname': 'node-1' } }),
    );
    const unit = (nodeSelector: Record<string, string>, spec: Partial<Pod['spec']> = {}) => {
      list('pods', pod('p', { containers: [{ name: 'main' }], nodeSelector, ...spec }));
      // One unit is the pod itself, which requests nothing.
      return built().amounts.map((each) => each.unit['cpu']);
    };
    expect(unit({ [ZONE]: 'a' })).toEqual(['10102m']);
    expect(unit({ [ZONE]: 'b' })).toEqual(['11111m']);
    expect(unit({})).toEqual(['11112m']);
    expect(unit({}, terms({ key: ZONE, operator: 'In', values: ['a', 'b'] }))).toEqual(['11112m']);
    expect(unit({ size: '4', card: 'no', [ZONE]: 'a' })).toEqual(['2m']);
    expect(unit({ size: '8', card: 'no', [ZONE]: 'a' })).toEqual(['10002m']);
  });

  it('given nodes with taints, then DaemonSets that do not tolerate them count where some machine has none', () => {
    const translation = {
      ...DEFAULT_TRANSLATION,
      taints: [
        { selector: { matchLabels: { pool: 'gpu' } }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
      ],
    };
    scene = new DemandScene({ translation }).listAll();
    const daemon = (name: string, cpu: string, spec: Partial<Pod['spec']>) => ({
      metadata: { name, namespace: 'kube-system' },
      spec: {
        template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }], ...spec } },
      },
    });
    const tolerations = [{ operator: 'Exists' }];
    list(
      'daemonsets',
      daemon('tolerant', '1m', { tolerations }),
      daemon('plain', '10m', {}),
      daemon('gpu', '100m', { nodeSelector: { pool: 'gpu' } }),
    );
    const unit = (spec: Partial<Pod['spec']>) => {
      list('pods', pod('p', { containers: [{ name: 'main' }], ...spec }));
      return built().amounts.map((each) => each.unit['cpu']);
    };
    expect(unit({ tolerations })).toEqual(['12m']);
    expect(unit({ tolerations, nodeSelector: { pool: 'gpu' } })).toEqual(['2m']);
    expect(unit({})).toEqual(['12m']);
  });
});
