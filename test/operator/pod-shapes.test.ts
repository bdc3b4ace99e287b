// The translation of pods against the table of shapes: a node that the table lists meets the requirements of one of the
// alternatives and has room, every other node does not.

import { describe, expect, it } from 'vitest';
import {
  type Attributes,
  covers,
  formatResources,
  meetsAll,
  parseQuantity,
  strictSpreadOf,
} from '../../src/model/index.ts';
import type { ResourceList } from '../../src/operator/kube/objects.ts';
import type { ClusterFacts } from '../../src/operator/pods/constraints.ts';
import { type PodRequest, translatePod } from '../../src/operator/pods/pod-request.ts';
import { DEFAULT_TRANSLATION } from '../../src/operator/pods/settings.ts';
import { claimNames, termsOfVolume } from '../../src/operator/pods/volumes.ts';
import { POD_SHAPES } from './pod-shapes.ts';
import { type PodShapeCase, SHAPE_NODES, SHAPE_TAINTS, shapeNode } from './shape-parts.ts';

/** Without defaults: an arm64 node fits a pod that says nothing about it, as far as the scheduler knows. */
const FACTS: ClusterFacts = {
  settings: { ...DEFAULT_TRANSLATION, defaultRequirements: [], taints: SHAPE_TAINTS },
  seenValues: (key) => Object.values(SHAPE_NODES).flatMap(({ labels }) => labels[key] ?? []),
  priorityOfClass: () => 0,
};

function translated({ pod, volumes = [] }: PodShapeCase): PodRequest {
  const claims = claimNames(pod);
  const terms = volumes.filter(({ metadata }) => claims.includes(metadata.name)).map(termsOfVolume);
  return translatePod(
    pod,
    terms.filter((each) => each !== null),
    FACTS,
  );
}

function fits(request: PodRequest, name: string): boolean {
  const node = shapeNode(name);
  const labels = new Map(Object.entries(node.metadata.labels ?? {}));
  const attributes: Attributes = { instanceType: '', zone: '', labels };
  const allocatable = vectorOf(node.status?.allocatable ?? {});
  return request.profiles.some((profile) => {
    const spread = strictSpreadOf(profile);
    const isSpreadable = spread === undefined || labels.has(spread.topologyKey);
    return (
      meetsAll(attributes, profile.requirements) && isSpreadable && covers(allocatable, request.resources)
    );
  });
}

function vectorOf(list: ResourceList): Map<string, number> {
  return new Map(
    Object.entries(list).map(([name, text]) => [name, parseQuantity(String(text), name, 'down')]),
  );
}

describe('shapes of pods', () => {
  it('has at least 60 of them, each with a title of its own', () => {
    expect(new Set(POD_SHAPES.map(({ title }) => title)).size).toBe(POD_SHAPES.length);
    expect(POD_SHAPES.length).toBeGreaterThanOrEqual(60);
  });

  it.each(POD_SHAPES)('$title', (shape) => {
    const request = translated(shape);
    expect(request.problem).toBeNull();
    expect(
      Object.keys(SHAPE_NODES)
        .filter((name) => fits(request, name))
        .sort(),
    ).toEqual([...shape.fits].sort());
    if (shape.requests !== undefined)
      expect(formatResources(request.resources)).toEqual(formatResources(vectorOf(shape.requests)));
    if (shape.remark === undefined) expect(request.remarks).toEqual([]);
    else expect(request.remarks.join(' ')).toContain(shape.remark);
  });
});
