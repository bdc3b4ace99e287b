// What the author of a provider implements: five calls that touch the cloud, made by the kit (kit/provider.ts).
// Everything else (fencing, idempotency, operation ids, revisions, timeouts, recovery after a crash) is the kit's; see
// docs/provider/writing-a-provider.md.

import type { CapacityType, HostRef, ResourceVector } from '../model/index.ts';

/** A machine as the cloud describes it: a quota slot, or a host that already exists. */
export interface Offering {
  /** Stable for the whole life, from quota slot to host and back. */
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** USD per hour; 0 for bare metal. */
  readonly pricePerHour: number;
  /** Chance of an interruption within an hour; above 0 for spot. */
  readonly interruptionProbability: number;
  /** The shape, and what a node really offers; an empty `allocatable` means "as the shape". */
  readonly resources: ResourceVector;
  readonly allocatable: ResourceVector;
  readonly labels: ReadonlyMap<string, string>;
  /** null: a quota slot (Speculative). Otherwise the machine starts Idle on this host. */
  readonly host: HostRef | null;
}

/** The machine a call is about, as of the acceptance of the call. */
export interface Subject {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  readonly labels: ReadonlyMap<string, string>;
  /** null only for `create`. */
  readonly host: HostRef | null;
  /** The cluster it is bound to, or is being bound to; '' for none. */
  readonly cluster: string;
}

/** One accepted transition. */
export interface Operation {
  /** The same for every repetition of one transition: good as a client token or a tag for the cloud's own idempotency. */
  readonly id: string;
  /** Fires when the kit gives up: the machine is Failed from then on, and whatever the call still returns is dropped. */
  readonly signal: AbortSignal;
}

/** What `configure` needs to make a host join its cluster. */
export interface Binding {
  readonly cluster: string;
  /** Opaque; whatever makes a host join the cluster. */
  readonly bootstrapBlob: Uint8Array;
}

/**
 * A cloud. Calls resolve when the transition has really ended and reject when it failed for good; the message of the
 * error becomes the machine's `last_error`, behind the code `BF_OUT_OF_STOCK` for an `OutOfStockError` and
 * `BF_BACKEND_FAILED` for any other. Calls for different machines run side by side; one machine has one at a time.
 */
export interface Backend {
  /**
   * true: after a restart of the provider, calls that were under way are made again, with the same operation id and a fresh
   * timeout. Only for backends that can tell a repeated call by its id; otherwise such machines become Failed, which is
   * also what certification expects. Bootstrap blobs are then kept in the store until the machine is bound.
   */
  readonly resumable?: boolean;
  /** Everything on offer. Called at the start and at every refresh; prices, probabilities, sizes and labels may change. */
  describe(signal: AbortSignal): Promise<readonly Offering[]>;
  /** Speculative → Idle. Returns the host. Throws an `OutOfStockError` if the cloud has none left. */
  create(machine: Subject, operation: Operation): Promise<HostRef>;
  /** Idle → Configured. Resolves when the node is Ready in its cluster, not before. */
  configure(machine: Subject, binding: Binding, operation: Operation): Promise<void>;
  /** Configured → Idle. Pods get `graceSeconds` to leave. */
  drain(machine: Subject, graceSeconds: number, operation: Operation): Promise<void>;
  /** Idle → Speculative. Leave it out where hosts cannot be given back. */
  delete?(machine: Subject, operation: Operation): Promise<void>;
}
