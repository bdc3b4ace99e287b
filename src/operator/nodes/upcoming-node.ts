// The content of an UpcomingNode object: name, spec and status of a machine (wire.md 2.3). Values in, values out; the
// writer is upcoming-nodes.ts.

import { createHash } from 'node:crypto';
import { MachineState } from '../../model/index.ts';
import type { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { taintsOf } from '../bootstrap/node-identity.ts';
import type { KubeObject, NodeTaint } from '../kube/objects.ts';
import type { TaintRule } from '../pods/settings.ts';
import type { ObjectReference } from './contract.ts';

export type Phase = 'Provisioning' | 'Launched' | 'Registered' | 'Ready' | 'Draining' | 'Drained' | 'Failed';

export interface UpcomingNodeSpec {
  readonly labels: Readonly<Record<string, string>>;
  readonly resources: Readonly<Record<string, string>>;
  readonly taints: readonly NodeTaint[];
}

export interface UpcomingNodeStatus {
  readonly phase: Phase;
  readonly nodeRef?: ObjectReference;
  readonly providerID?: string;
  readonly provisioningStartTime?: string;
  readonly lastError?: string;
}

export interface UpcomingNode extends KubeObject {
  readonly spec?: Partial<UpcomingNodeSpec>;
  readonly status?: UpcomingNodeStatus;
}

/** The machine, for names that a machine id cannot be part of. */
export const MACHINE_ANNOTATION = 'bigfleet.lucy.sh/machine';
/** Until when the node must have registered. */
export const JOIN_DEADLINE_ANNOTATION = 'bigfleet.lucy.sh/join-deadline';

const OBJECT_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const MAX_NAME_LENGTH = 253;
const QUANTITY =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;
const MAX_ERROR_LENGTH = 1_000;

/** `un-<machine id>`, or a hash where the id is not part of a legal name. */
export function upcomingNodeName(machine: string): string {
  const name = `un-${machine}`;
  if (name.length <= MAX_NAME_LENGTH && OBJECT_NAME.test(name)) return name;
  return `un-${createHash('sha256').update(machine).digest('hex').slice(0, 32)}`;
}

export function machineOfUpcomingNode({ metadata }: UpcomingNode): string {
  return metadata.annotations?.[MACHINE_ANNOTATION] ?? metadata.name.replace(/^un-/, '');
}

const PHASES: ReadonlyMap<MachineState, Phase> = new Map([
  [MachineState.Idle, 'Launched'],
  [MachineState.Configuring, 'Registered'],
  [MachineState.Configured, 'Ready'],
  [MachineState.Draining, 'Draining'],
  [MachineState.Failed, 'Failed'],
]);

const IN_CLUSTER_PHASES: ReadonlySet<Phase | undefined> = new Set<Phase>([
  'Registered',
  'Ready',
  'Draining',
  'Drained',
  'Failed',
]);

/** Whether a machine with this phase is or was in the cluster; the others are on their way to it. */
export function isInClusterPhase(phase: Phase | undefined): boolean {
  return IN_CLUSTER_PHASES.has(phase);
}

/** Every other state, those of a newer shard included, is on its way to a machine. */
export function phaseOf(state: MachineState): Phase {
  return PHASES.get(state) ?? 'Provisioning';
}

/**
 * Parts that the CRD would reject are left out: one bad label of a provider must not hide the node. The taints are those
 * that the bootstrap registers the node with.
 */
export function specOf(
  { labels, resources, taints }: NodeStateUpdate,
  rules: readonly TaintRule[] = [],
): UpcomingNodeSpec {
  return {
    labels: sorted(labels),
    resources: sorted(resources?.resources ?? new Map(), (text) => QUANTITY.test(text)),
    taints: taintsOf(taints, labels, rules)
      .filter(({ key }) => key !== '')
      .map(({ key, value = '', effect }) => (value === '' ? { key, effect } : { key, value, effect })),
  };
}

/** Non-empty values replace those of the old status; the start time is set once. */
export function statusOf(
  phase: Phase,
  facts: {
    readonly nodeRef: ObjectReference | undefined;
    readonly providerId: string;
    readonly lastError: string;
    readonly now: number;
  },
  old: UpcomingNodeStatus | undefined,
): UpcomingNodeStatus {
  const nodeRef = facts.nodeRef ?? old?.nodeRef;
  const providerID = facts.providerId || old?.providerID;
  const lastError = facts.lastError.slice(0, MAX_ERROR_LENGTH) || old?.lastError;
  return {
    phase,
    ...(nodeRef === undefined ? {} : { nodeRef }),
    ...(providerID === undefined ? {} : { providerID }),
    provisioningStartTime:
      old?.provisioningStartTime ?? new Date(facts.now).toISOString().replace(/\.\d+Z$/, 'Z'),
    ...(lastError === undefined ? {} : { lastError }),
  };
}

function sorted(
  map: ReadonlyMap<string, string>,
  isLegal: (text: string) => boolean = () => true,
): Readonly<Record<string, string>> {
  const entries = [...map].filter(([key, value]) => key !== '' && isLegal(value));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
