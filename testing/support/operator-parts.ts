// Recorders and messages for the tests of the operator's parts for nodes, drains, verdicts and episodes.

import type {
  EventSink,
  ObjectReference,
  OperatorLog,
  OperatorMetrics,
} from '../../src/operator/nodes/contract.ts';
import type { ShardLink } from '../../src/operator/session/contract.ts';
import type { NodeReport, NodeStateUpdate, ReclaimAck } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Feature } from '../../src/wire/index.ts';

export class RecordedEvents implements EventSink {
  readonly all: {
    readonly on: string;
    readonly object: ObjectReference;
    readonly type: string;
    readonly reason: string;
    readonly message: string;
  }[] = [];

  event(object: ObjectReference, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const place = object.namespace === undefined ? object.name : `${object.namespace}/${object.name}`;
    this.all.push({ on: `${object.kind} ${place}`, object, type, reason, message });
  }

  reasons(): readonly string[] {
    return this.all.map(({ reason }) => reason);
  }
}

export class RecordedLink implements ShardLink {
  features: ReadonlySet<Feature> = new Set(['rollup-report', 'verdicts', 'drain-report', 'withdraw']);
  isConnected = true;
  rollups = 0;
  readonly acks: ReclaimAck[] = [];
  readonly reports: NodeReport[] = [];

  sendReclaimAck(ack: ReclaimAck): void {
    this.acks.push(ack);
  }

  sendNodeReport(report: NodeReport): void {
    this.reports.push(report);
  }

  requestRollup(): void {
    this.rollups++;
  }
}

export class RecordedMetrics implements OperatorMetrics {
  readonly values = new Map<string, number>();

  count(name: string, labels: Readonly<Record<string, string>> = {}, by = 1): void {
    const key = [name, ...Object.values(labels)].join(' ');
    this.values.set(key, (this.values.get(key) ?? 0) + by);
  }

  gauge(name: string, value: number, labels: Readonly<Record<string, string>> = {}): void {
    this.values.set([name, ...Object.values(labels)].join(' '), value);
  }

  /** Keeps the last duration. */
  observe(name: string, seconds: number, labels: Readonly<Record<string, string>> = {}): void {
    this.gauge(name, seconds, labels);
  }
}

export const noLog: OperatorLog = () => {};

export function nodeStateUpdate(
  machineId: string,
  state: NodeStateUpdate['state'],
  more: Partial<NodeStateUpdate> = {},
): NodeStateUpdate {
  return {
    supersedesKey: `node:${machineId}`,
    machineId,
    clusterId: 'c',
    state,
    nodeName: '',
    providerId: '',
    lastError: '',
    labels: new Map(),
    resources: undefined,
    taints: [],
    ...more,
  };
}
