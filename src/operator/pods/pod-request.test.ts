// What the table of shapes (test/operator/pod-shapes.ts) does not show: how alternatives, groups, defaults, taints, penalties
// and priorities are spelled in a profile, and that bad input is a problem of its pod alone.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Attributes, meetsAll } from '../../model/index.ts';
import type { CapacityRequest, Pod } from '../kube/objects.ts';
import { canonicalSelector, groupOf } from './co-location.ts';
import type { ClusterFacts } from './constraints.ts';
import { intersect, merged, type NodeTerm, readTerm, requirementsOf } from './node-terms.ts';
import { type PodRequest, translateCapacityRequest, translatePod } from './pod-request.ts';
import { DEFAULT_TRANSLATION, type TranslationSettings } from './settings.ts';

const ZONE = 'topology.kubernetes.io/zone';
const ARCH = 'kubernetes.io/arch';

function factsWith(settings: Partial<TranslationSettings> = {}): ClusterFacts {
  return {
    settings: { ...DEFAULT_TRANSLATION, ...settings },
    seenValues: () => [],
    priorityOfClass: (name) => (name === 'high' ? 100 : null),
  };
}

function pod(spec: Partial<Pod['spec']> = {}, annotations: Record<string, string> = {}): Pod {
  return {
    metadata: { name: 'p', namespace: 'team', labels: { app: 'web' }, annotations },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }], ...spec },
  };
}

function requiring(...terms: readonly object[][]): Partial<Pod['spec']> {
  const nodeSelectorTerms = terms.map((matchExpressions) => ({ matchExpressions }));
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { affinity: { nodeAffinity: required } } as Partial<Pod['spec']>;
}

const translated = (spec: Partial<Pod['spec']>, settings: Partial<TranslationSettings> = {}): PodRequest =>
  translatePod(pod(spec), [], factsWith(settings));

/** Requirements of each alternative, as the fingerprint spells them. */
const spelled = ({ profiles }: PodRequest): readonly string[] =>
  profiles.map(({ fingerprint }) => /\|reqs=(.*)\|spr=/s.exec(fingerprint)![1]!);

describe('requirements', () => {
  it('given a pod that says nothing, then it gets the defaults, or a requirement that every machine meets', () => {
    expect(spelled(translated({}))).toEqual([`${ARCH}:1:amd64;`]);
    expect(spelled(translated({}, { defaultRequirements: [] }))).toEqual([
      'node.kubernetes.io/instance-type:3:;',
    ]);
  });

  it('given a pod that names the label of a default, under its old name too, then the default does not apply', () => {
    expect(spelled(translated({ nodeSelector: { 'beta.kubernetes.io/arch': 'arm64' } }))).toEqual([
      `${ARCH}:1:arm64;`,
    ]);
    expect(spelled(translated(requiring([{ key: ARCH, operator: 'Exists' }])))).toEqual([`${ARCH}:3:;`]);
  });

  it('given terms that differ in one label, then they are one alternative; else one each', () => {
    const zone = (value: string) => ({ key: ZONE, operator: 'In', values: [value] });
    const type = (value: string) => ({ key: 'type', operator: 'In', values: [value] });
    const settings = { defaultRequirements: [] };
    const terms = [
      [zone('a'), type('x')],
      [zone('b'), type('x')],
      [zone('b'), type('x')],
    ];
    expect(spelled(translated(requiring(...terms), settings))).toEqual([`${ZONE}:1:a,b;type:1:x;`]);
    expect(spelled(translated(requiring([zone('a')], [type('x')]), settings))).toEqual([
      `${ZONE}:1:a;`,
      'type:1:x;',
    ]);
  });

  it('given a taint on nodes with two labels, then a pod that does not tolerate it avoids either', () => {
    const selector = { matchLabels: { gpu: 'yes', pool: 'ml' } };
    const taints = [{ selector, taints: [{ key: 'ml', effect: 'NoSchedule' }] }];
    const settings = { defaultRequirements: [], taints };
    expect(spelled(translated({}, settings))).toEqual(['gpu:2:yes;', 'pool:2:ml;']);
    expect(spelled(translated({ nodeSelector: { pool: 'ml' } }, settings))).toEqual(['gpu:2:yes;pool:1:ml;']);
    expect(spelled(translated({ nodeSelector: { pool: 'web' } }, settings))).toEqual(['pool:1:web;']);
    expect(spelled(translated({ tolerations: [{ key: 'ml', operator: 'Exists' }] }, settings))).toEqual([
      'node.kubernetes.io/instance-type:3:;',
    ]);
  });

  it('given any two lists of terms, then merging and intersecting keep exactly the nodes that fit', () => {
    const values = ['a', 'b', 'c'];
    const expression = fc.record({
      key: fc.constantFrom('x', 'y'),
      operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
      values: fc.subarray(values, { minLength: 1 }),
    });
    const terms = fc.array(fc.array(expression, { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 4,
    });
    const read = (lists: readonly (readonly { key: string; operator: string; values: string[] }[])[]) =>
      lists.map((each) => readTerm(each, () => []).term);
    const label = fc.option(fc.constantFrom(...values));
    fc.assert(
      fc.property(terms, terms, label, label, (left, right, x, y) => {
        const labels = new Map(
          Object.entries({ x, y }).flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])),
        );
        const node: Attributes = { instanceType: '', zone: '', labels };
        const fits = (list: readonly NodeTerm[]) => list.some((each) => meetsAll(node, requirementsOf(each)));
        const both = read(left).flatMap((a) => read(right).map((b) => intersect(a, b)));
        expect(fits(merged(both))).toBe(fits(read(left)) && fits(read(right)));
        expect(merged(both).length).toBeLessThanOrEqual(both.length);
      }),
    );
  });
});

describe('gangs, penalties and priorities', () => {
  it('given a selector, then the group is spelled as every operator spells it', () => {
    const selector = {
      matchLabels: { b: '2', a: '1' },
      matchExpressions: [
        { key: 'z', operator: 'In', values: ['2', '1'] },
        { key: 'y', operator: 'Exists' },
      ],
    };
    expect(canonicalSelector(undefined)).toBe('');
    expect(canonicalSelector({})).toBe(';');
    expect(groupOf('rack', selector)).toBe('rack\0a=1,b=2,;y Exists ;z In 1,2;');
    const long = groupOf('rack', { matchLabels: { a: 'x'.repeat(2000) } });
    expect(long).toMatch(/^rack\0sha256:[0-9a-f]{64}$/);
  });

  it('given required pod affinity, then the first term is a Same requirement and a group', () => {
    const term = { topologyKey: ZONE, labelSelector: { matchLabels: { app: 'web' } } };
    const affinity = {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term, { topologyKey: 'rack' }] },
    };
    const request = translated({ affinity });
    expect(spelled(request)).toEqual([`${ARCH}:1:amd64;${ZONE}:5:;`]);
    expect(request.group).toBe(`${ZONE}\0app=web,;`);
    expect(request.remarks.join()).toContain('only the first');
  });

  it('given annotations, class defaults or nonsense, then the penalties are theirs', () => {
    const settings = {
      priorityClassDefaults: { high: { interruptionPenalty: 4, reclamationPenalty: '100' } },
    };
    const buckets = (annotations: Record<string, string>, priorityClassName?: string) => {
      const spec = priorityClassName === undefined ? {} : { priorityClassName };
      const { profiles, remarks } = translatePod(pod(spec, annotations), [], factsWith(settings));
      return [
        profiles[0]!.interruptionBucket,
        profiles[0]!.reclamationBucket,
        profiles[0]!.priority,
        remarks.length,
      ];
    };
    const stated = (value: string) => ({ 'bigfleet.lucy.sh/interruption-penalty': value });
    expect(buckets({})).toEqual([0, 0, 0, 0]);
    expect(buckets(stated('500m'))).toEqual([2, 0, 0, 0]);
    expect(buckets(stated('-3'))).toEqual([1, 0, 0, 0]);
    expect(buckets(stated('9E'))).toEqual([27, 0, 0, 0]);
    expect(buckets(stated('a lot'))).toEqual([0, 0, 0, 1]);
    expect(buckets({}, 'high')).toEqual([5, 10, 100, 0]);
    expect(buckets(stated('1'), 'high')).toEqual([3, 10, 100, 0]);
    expect(buckets(stated('a lot'), 'high')).toEqual([5, 10, 100, 1]);
    expect(buckets({}, 'unheard-of')).toEqual([0, 0, 0, 1]);
  });
});

describe('bad input', () => {
  it('given any JSON as a pod or request, then nothing is thrown', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.constantFrom('affinity', 'containers', 'tolerations', 'volumes', 'priority', 'nodeSelector'),
        (json, field) => {
          const value: unknown = JSON.parse(json);
          translatePod(pod({ [field]: value } as Partial<Pod['spec']>), [], factsWith());
          translatePod(value as Pod, [], factsWith());
          translateCapacityRequest(
            { metadata: { name: 'r' }, spec: value } as unknown as CapacityRequest,
            factsWith(),
          );
        },
      ),
    );
  });

  it('given an operator that is not known, then a pod that waits has a problem, one that runs still counts', () => {
    const spec = requiring([{ key: 'x', operator: 'Near', values: ['1'] }]);
    expect(translated(spec)).toMatchObject({ problem: 'The operator "Near" of x is not known.' });
    expect(translated({ ...spec, nodeName: 'n' })).toMatchObject({
      problem: null,
      profiles: [{ priority: 0 }],
    });
  });

  it('given a condition on the name of the node of a pod that runs, then its row does not have it', () => {
    const nodeSelector = { 'kubernetes.io/hostname': 'n' };
    expect(spelled(translated({ nodeSelector, nodeName: 'n' }))).toEqual([`${ARCH}:1:amd64;`]);
  });
});
