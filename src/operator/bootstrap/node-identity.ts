// Labels and taints that a kubelet registers its node with. The label of the machine ties the node to it, besides the
// provider id. The kubelet refuses to start with labels that it may not set itself, so these are left out here.
// Used by template-context.ts.

import type { Taint } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { NodeTaint } from '../kube/objects.ts';
import { selects } from '../kube/selectors.ts';
import { MACHINE_LABEL } from '../nodes/contract.ts';
import type { TaintRule } from '../pods/settings.ts';

/** Labels below kubernetes.io and k8s.io that a kubelet may set on its own node. */
const KUBELET_LABELS = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/instance-type',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]);
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** The value of `--node-labels`: `key=value,…`, with the label of the machine. */
export function kubeletLabels(labels: ReadonlyMap<string, string>, machineId: string): string {
  const all = new Map(labels);
  if (machineId !== '') all.set(MACHINE_LABEL, machineId);
  return [...all]
    .filter(([key, value]) => isSettable(key) && isLabelValue(value))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/** Whether a text may be the value of a label. */
function isLabelValue(value: string): boolean {
  return value === '' || NAME.test(value);
}

function isLabelKey(key: string): boolean {
  const [name = '', domain, ...rest] = key.split('/').reverse();
  return rest.length === 0 && NAME.test(name) && (domain === undefined || DOMAIN.test(domain));
}

function isSettable(key: string): boolean {
  if (!isLabelKey(key)) return false;
  const at = key.indexOf('/');
  const domain = at < 0 ? '' : key.slice(0, at);
  const isReserved = /(^|\.)(kubernetes|k8s)\.io$/.test(domain);
  const isAllowed = KUBELET_DOMAINS.some((each) => domain === each || domain.endsWith(`.${each}`));
  return !isReserved || isAllowed || KUBELET_LABELS.has(key);
}

/** The value of `--register-with-taints`: `key=value:effect,…`. */
export function kubeletTaints(taints: readonly NodeTaint[]): string {
  return taints
    .filter(({ key, value = '' }) => isLabelKey(key) && isLabelValue(value))
    .map(({ key, value = '', effect }) => `${key}=${value}:${effect}`)
    .join(',');
}

const EFFECTS: ReadonlySet<string> = new Set(['NoSchedule', 'PreferNoSchedule', 'NoExecute']);

/** Taints of the request, then those of the rules that match; one for each key and effect. */
export function taintsOf(
  given: readonly Taint[],
  labels: ReadonlyMap<string, string>,
  rules: readonly TaintRule[],
): readonly NodeTaint[] {
  const all = new Map<string, NodeTaint>();
  const matching = rules.filter(({ selector }) => selects(selector, (key) => labels.get(key)));
  for (const taint of [...given, ...matching.flatMap(({ taints }) => taints)]) {
    const key = `${taint.effect} ${taint.key}`;
    if (EFFECTS.has(taint.effect) && !all.has(key)) all.set(key, taint);
  }
  return [...all.values()];
}
