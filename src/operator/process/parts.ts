// What the process needs of the other parts of the operator, as small interfaces: access to the API server, the demand, and
// the handlers of messages of the shard. operator.ts connects them; tests pass their own.

import type { Clock, MonotonicClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import type { BootstrapRequest } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { KubeClient } from '../kube/client.ts';
import type { ReflectorState } from '../kube/reflector.ts';
import type { SessionHandlers, ShardLink } from '../session/contract.ts';
import type { OutgoingRollup } from '../session/rollup-sender.ts';
import type { OperatorMetrics } from './operator-metrics.ts';
import type { OperatorSettings } from './settings.ts';

/** Access to the API server of the cluster. */
export interface KubeAccess {
  readonly client: KubeClient;
  /**
   * For drains and bootstrap tokens, which a shard waits for: after a change of the leader as many writes as there are nodes and
   * waiting pods may be queued in `client`.
   */
  readonly urgentClient: KubeClient;
  /** For the Lease alone, so that a renewal never waits behind other requests, however slow these are. */
  readonly leaseClient: KubeClient;
  /** URL of the API server. */
  readonly server: string;
  /** PEM; undefined: the authorities of the system. */
  readonly caBundle: string | undefined;
  /** `server` is the address of a service, which a new node cannot reach. */
  readonly isInCluster: boolean;
  /** Where the access is from, for a person. */
  readonly origin: string;
  close(): void;
}

/** What the parts of a cluster are made from. */
export interface PartContext {
  readonly settings: OperatorSettings;
  /** For reads; works on a standby. */
  readonly client: KubeClient;
  /** For everything else: its writes fail while this replica does not lead. */
  readonly writer: KubeClient;
  /** The same, for drains. */
  readonly urgentWriter: KubeClient;
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly link: ShardLink;
  readonly clock: MonotonicClock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: OperatorMetrics;
  /** The node of a machine has registered. */
  readonly joined: (machineId: string) => void;
}

/** Demand, nodes, drains and verdicts of a cluster. */
export interface ClusterParts {
  /** Begins to follow the objects of the cluster; also on a standby, so that it is ready to take over. Writes nothing. */
  start(): void;
  /**
   * This replica leads from now on: it may write. `ready` is called once, when everything is known that an earlier leader
   * wrote, unless `rest` comes first. The session begins after it: the shard reports machines and repeats instructions right
   * after the hello, and what is not reported then counts as gone.
   */
  lead(ready: () => void): void;
  /** This replica no longer leads: work under way ends, and nothing is written until `lead`. */
  rest(): void;
  /** Ends everything. */
  stop(): void;
  /** Writes to the API server that wait or are in flight because of messages of the shard. */
  readonly pendingWrites: number;
  /** Resources that are followed. */
  readonly watches: readonly { readonly resource: string; readonly state: ReflectorState }[];
  /** The demand now; null while it is not known completely. */
  buildRollup(timestampUnixNanos: bigint): OutgoingRollup | null;
  readonly handlers: Omit<SessionHandlers, 'bootstrapRequest'>;
  /** The bootstrap of a machine is about to be answered: its node is expected from now on. */
  bootstrapRequested(request: BootstrapRequest): void;
}

export interface PartFactories {
  readonly connect: (settings: OperatorSettings, clock: Clock) => KubeAccess;
  readonly parts: (context: PartContext) => ClusterParts;
}
