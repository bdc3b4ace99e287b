// How large the parts of a machine record may be. Every name of a record is copied into ledgers, answers and log lines,
// so a record beyond these limits is refused alone, before anything of it is converted or kept. Checked by
// wire/codec/machine.ts before it converts a record, and by machine.ts.

import type { Problem } from './errors.ts';
import { NameLimits } from './name-limits.ts';
import { excerpt, isLongerThan } from './text.ts';

/** Names are counted in UTF-8 bytes. */
export const MachineLimits = {
  id: NameLimits.machineId,
  cluster: NameLimits.clusterId,
  /** Nodes carry the instance type as the value of a label, and requirements name it as one; so a longer one fits neither. */
  instanceType: NameLimits.value,
  zone: NameLimits.value,
  labelKey: NameLimits.key,
  labelValue: NameLimits.value,
  labels: 256,
  resource: NameLimits.resource,
  resources: 64,
  /** Provider and ref of a host, each: long enough for the full resource names of clouds. */
  host: 1024,
  /** `lastError` is not a name: it is cut to this before it is kept, never refused. */
  lastError: 1000,
} as const;

/** The parts of a record, on the wire or in the model, whose sizes are limited. */
interface SizedRecord {
  readonly id: string;
  readonly cluster: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly host?: { readonly provider: string; readonly ref: string } | null | undefined;
  readonly labels: ReadonlyMap<string, string>;
}

/** Apart from the record, because the wire wraps them in messages of their own. */
interface SizedAmounts {
  readonly resources: ReadonlyMap<string, unknown>;
  readonly allocatable: ReadonlyMap<string, unknown>;
}

/** At most one problem for each field, so that a record cannot have more problems than it has fields. */
export function machineSizeProblems(
  record: SizedRecord,
  amounts: SizedAmounts,
  path = '',
): readonly Problem[] {
  const problems: Problem[] = [];
  const say = (field: string, message: string): void => {
    problems.push({ code: 'BF_MACHINE_LIMIT', path: path === '' ? field : `${path}.${field}`, message });
  };
  const checkName = (field: string, name: string, most: number): void => {
    if (isLongerThan(name, most)) say(field, `The name has more than ${most} bytes: ${excerpt(name)}.`);
  };
  checkName('id', record.id, MachineLimits.id);
  checkName('cluster', record.cluster, MachineLimits.cluster);
  checkName('instanceType', record.instanceType, MachineLimits.instanceType);
  checkName('zone', record.zone, MachineLimits.zone);
  checkName('host.provider', record.host?.provider ?? '', MachineLimits.host);
  checkName('host.ref', record.host?.ref ?? '', MachineLimits.host);
  const labels = labelProblem(record.labels);
  if (labels !== null) say('labels', labels);
  for (const field of ['resources', 'allocatable'] as const) {
    const resources = resourceProblem(amounts[field]);
    if (resources !== null) say(field, resources);
  }
  return problems;
}

function labelProblem(labels: ReadonlyMap<string, string>): string | null {
  const { labels: most, labelKey, labelValue } = MachineLimits;
  if (labels.size > most) return `There are ${labels.size} labels, at most ${most} are taken.`;
  for (const [key, value] of labels) {
    if (isLongerThan(key, labelKey)) return `A key has more than ${labelKey} bytes: ${excerpt(key)}.`;
    if (isLongerThan(value, labelValue)) {
      return `The value of "${excerpt(key)}" has more than ${labelValue} bytes: ${excerpt(value)}.`;
    }
  }
  return null;
}

function resourceProblem(resources: ReadonlyMap<string, unknown>): string | null {
  const { resources: most, resource } = MachineLimits;
  if (resources.size > most) return `There are ${resources.size} resources, at most ${most} are taken.`;
  for (const name of resources.keys()) {
    if (isLongerThan(name, resource)) return `A name has more than ${resource} bytes: ${excerpt(name)}.`;
  }
  return null;
}
