// Volumes that a pod uses: which claims, and where the volume behind a claim can be reached from. A volume that exists in
// one zone keeps its pod there, whatever else the pod allows.

import type { PersistentVolume, Pod, SelectorExpression } from '../kube/objects.ts';
import { REGION_KEY, ZONE_KEY_OF_NODES } from './keys.ts';

/** Alternatives of expressions, one of which a node must meet, for one volume. */
export type VolumeTerms = readonly (readonly SelectorExpression[])[];

const NO_CLAIMS: readonly string[] = [];

/** Names of the claims in the pod's namespace, sorted. A generic ephemeral volume has a claim named after pod and volume. */
export function claimNames(pod: Pod): readonly string[] {
  const { volumes } = pod.spec;
  if (volumes === undefined) return NO_CLAIMS;
  const names: string[] = [];
  for (const { name, persistentVolumeClaim, ephemeral } of volumes) {
    const claim =
      persistentVolumeClaim?.claimName ?? (ephemeral == null ? null : `${pod.metadata.name}-${name}`);
    if (claim !== null) names.push(claim);
  }
  return names.length === 0 ? NO_CLAIMS : names.sort();
}

/** Where a volume can be used; null: everywhere. */
export function termsOfVolume(volume: PersistentVolume): VolumeTerms | null {
  const terms = (volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []).map((term) => [
    ...(term.matchExpressions ?? []),
    ...(term.matchFields ?? []),
  ]);
  const labels = zoneLabels(volume);
  if (terms.length === 0) return labels.length === 0 ? null : [labels];
  return labels.length === 0 ? terms : terms.map((term) => [...term, ...labels]);
}

/** Older volumes state their zone and region as labels; several values are joined by two underscores. */
function zoneLabels({ metadata: { labels = {} } }: PersistentVolume): readonly SelectorExpression[] {
  return [...ZONE_KEY_OF_NODES, ...REGION_KEY]
    .filter((key) => Object.hasOwn(labels, key))
    .map((key) => ({ key, operator: 'In', values: labels[key]!.split('__') }));
}
