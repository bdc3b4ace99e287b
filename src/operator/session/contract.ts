// Contract between the session with the shard and the parts of the operator that handle its messages.

import type {
  AvailableCapacityUpdate,
  BootstrapBlobResponse,
  BootstrapRequest,
  NeedVerdicts,
  NodeReport,
  NodeStateUpdate,
  ReclaimAck,
  ReclaimInstruction,
  ReclaimWithdrawal,
  RollupReport,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Feature } from '../../wire/index.ts';

/** Handlers of messages of the shard. None of them may throw; slow work is done in the background. */
export interface SessionHandlers {
  /** The shard has acknowledged the hello. `features`: those that both sides know. */
  connected(features: ReadonlySet<Feature>): void;
  disconnected(why: string): void;
  /** Rejects if there is no answer now, for example because the API server is down; the shard asks again. */
  bootstrapRequest(request: BootstrapRequest): Promise<BootstrapBlobResponse>;
  reclaimInstruction(instruction: ReclaimInstruction): void;
  reclaimWithdrawal(withdrawal: ReclaimWithdrawal): void;
  nodeStateUpdate(update: NodeStateUpdate): void;
  availableCapacity(update: AvailableCapacityUpdate): void;
  needVerdicts(verdicts: NeedVerdicts): void;
  rollupReport(report: RollupReport): void;
  /**
   * The shard has had time to report every machine of the cluster since `connected`: a machine without a state update
   * since then is no longer one of this cluster.
   */
  resynced?(): void;
  /** The shard has acknowledged the roll-up with this timestamp, and all earlier ones. */
  rollupAcknowledged?(timestampUnixNanos: bigint): void;
}

/** What parts of the operator may send. Replies are never dropped: they wait for the next connection. */
export interface ShardLink {
  /** Features that both sides know; empty without a connection. */
  readonly features: ReadonlySet<Feature>;
  readonly isConnected: boolean;
  sendReclaimAck(ack: ReclaimAck): void;
  /** Sent if the shard knows `drain-report`; else ignored. */
  sendNodeReport(report: NodeReport): void;
  /** Builds and sends a roll-up soon instead of at the next interval. */
  requestRollup(): void;
}
