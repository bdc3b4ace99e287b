// What other rooms may use of the wire: typed gRPC services, operator frames, roll-ups read by
// what changed, and the conversions between messages and the model.
// Generated messages and service definitions are public too and imported from gen/ by their file.

export { WIRE, WireCursor } from './codec/cursor.ts';

export { decodeStrict } from './codec/decode.ts';
export { WireFormatError } from './codec/errors.ts';
export type { OperatorFrame } from './codec/frames.ts';
export { readOperatorFrame } from './codec/frames.ts';
export type { IntakeLimits, IntakeResult } from './codec/intake.ts';
export { RollupIntake, SharedParts } from './codec/intake.ts';
export { machineFromWire, machinesFromWire, machineToWire } from './codec/machine.ts';
export { needToWire, requirementsToWire, resourcesToWire } from './codec/need.ts';
export { readingNodeFacts } from './codec/node-facts.ts';
export type { RollupSize } from './codec/rollup.ts';
export type { RollupProblem, RollupProblems } from './codec/rollup-problems.ts';
export { NO_PROBLEMS, wholeProblems } from './codec/rollup-problems.ts';
export { binderEpoch, stampFromMetadata, stampToMetadata, withBinder } from './codec/stamp.ts';
export { finished } from './codec/steps.ts';
export type { FencingToken } from './codec/token.ts';
export { isNewer, tokenFromWire } from './codec/token.ts';
export { FEATURES, type Feature } from './features.ts';
export type { RpcOptions } from './grpc/client.ts';
export { connect } from './grpc/client.ts';
export { watchConnections } from './grpc/connections.ts';
export type { Identity, SecurityOptions } from './grpc/credentials.ts';
export {
  clientCredentials,
  denied,
  identityOf,
  KeyPair,
  parseIdentity,
  serverCredentials,
} from './grpc/credentials.ts';
export { Inflater } from './grpc/inflating.ts';
export type { Verdict } from './grpc/receiving.ts';
export { Receiving } from './grpc/receiving.ts';
export type { HandlersFor, ReadControl } from './grpc/server.ts';
export {
  addService,
  closeWithStatus,
  connectionOf,
  inflateBy,
  readInFront,
  resetStream,
  stopServer,
} from './grpc/server.ts';

export {
  bindService,
  CHANNEL_OPTIONS,
  MAX_MESSAGE_BYTES,
  RpcError,
  rawBytes,
  status,
  statusOf,
} from './grpc/service.ts';
export { tlsAdvice } from './grpc/tls-advice.ts';
export type { TlsFiles } from './grpc/tls-files.ts';
export { isLoopback, tlsFiles } from './grpc/tls-files.ts';
