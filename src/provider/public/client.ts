// The entry point `bigfleet/provider/client`: calls to a provider as a shard makes them, for tools that read or move
// machines without one.

export type {
  Attributes,
  ErrorCode,
  HostRef,
  Machine,
  NeedKey,
  Problem,
  ResourceVector,
  Stamp,
  Where,
} from '../../model/index.ts';
export { BigFleetError, CapacityType, MachineState } from '../../model/index.ts';
export type { BackoffLimits } from '../../runtime/backoff.ts';
export type { Clock, MonotonicClock } from '../../runtime/clock.ts';
export { Random } from '../../runtime/random.ts';
export { systemClock } from '../../runtime/system-clock.ts';
/** The messages of the contract, as a `ProviderTransport` carries them. */
export type * as messages from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
export type { SecurityOptions, TlsFiles } from '../../wire/index.ts';
export { tlsFiles } from '../../wire/index.ts';
export type { Attempt } from '../client/attempts.ts';
export type { CallLimits } from '../client/call-limits.ts';
export { DEFAULT_LIMITS as DEFAULT_CALL_LIMITS } from '../client/call-limits.ts';
export type {
  Accepted,
  ClusterBinding,
  Fence,
  ListQuery,
  ProviderClientParts,
} from '../client/client.ts';
export { ProviderClient } from '../client/client.ts';
export type { CallName, ProviderErrorKind } from '../client/errors.ts';
export { ProviderError } from '../client/errors.ts';
export type { ProviderAddress } from '../client/grpc-transport.ts';
export { grpcTransport } from '../client/grpc-transport.ts';
export type { ListSink } from '../client/intake.ts';
export type { InventoryReaderParts, ListKind, ListReport } from '../client/inventory-reader.ts';
export { InventoryReader } from '../client/inventory-reader.ts';
export type { DecodedList, RecordBatch } from '../client/machine-list.ts';
export { machinesOf } from '../client/machine-list.ts';
export type { AttemptLimits, ProviderTransport } from '../client/transport.ts';
