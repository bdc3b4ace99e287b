// The six calls as client.ts makes them, without retries or deadlines of their own: over gRPC (grpc-transport.ts) or
// straight to a provider in this process (in-process.ts). A List is returned as bytes, so that no reader has to hold
// half a million objects at once.

import type {
  ConfigureRequest,
  CreateRequest,
  DeleteRequest,
  DrainRequest,
  ListFilter,
  Machine,
  MachineRef,
  TransitionAck,
} from '../../wire/gen/bigfleet/v1alpha1/provider.ts';

/** Limits of one attempt. The client enforces them itself; a transport passes them on to the provider. */
export interface AttemptLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The six calls as a client makes them, without retries or deadlines of their own. */
export interface ProviderTransport {
  create(request: CreateRequest, limits: AttemptLimits): Promise<TransitionAck>;
  configure(request: ConfigureRequest, limits: AttemptLimits): Promise<TransitionAck>;
  drain(request: DrainRequest, limits: AttemptLimits): Promise<TransitionAck>;
  delete(request: DeleteRequest, limits: AttemptLimits): Promise<TransitionAck>;
  get(request: MachineRef, limits: AttemptLimits): Promise<Machine>;
  /** The bytes of a `MachineList`. */
  list(request: ListFilter, limits: AttemptLimits): Promise<Uint8Array>;
  close(): void;
}
